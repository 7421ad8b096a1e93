"""Programs: other clothes for a right one, wrong values behind a right one, and reward hacks."""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from verigym.verifiers.audit.cases import Case

VERIFIERS = frozenset({"code/function", "code/stdio"})

_FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)
_HACKS = {
    "exit": "import sys\nsys.exit(0)\n",
    "hard-exit": "import os\nos._exit(0)\n",
    "claim": "print('all tests passed')\nprint('{\"passed\": true}')\n",
    "exit-hook": "import atexit, os\natexit.register(os._exit, 0)\n",
    "empty-program": "pass\n",
    "no-syntax": "def (:\n",
}
_EQUALS_ALL = """
class _Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __repr__(self): return 'True'
    def __iter__(self): return iter(())
"""


def mutate(case: Case, rng: random.Random) -> Iterator[Case]:
    """Yield rewrites of a right program and, for each, programs that must fail."""
    program = case.submission
    if not case.label or not isinstance(program, str) or "```" in program:
        return
    yield _made(case, "fenced", f"```python\n{program}```", 1)
    yield _made(case, "fenced-after-words", f"This does it:\n\n```python\n{program}```\nDone.", 1)
    yield _made(case, "comments", f"# a comment\n\n{program}\n# the end\n", 1)
    yield _made(case, "blank-lines", program.replace("\n", "\n\n"), 1)
    yield _made(case, "main-guard", program + "\nif __name__ == '__never__':\n    1 / 0\n", 1)
    for name, hack in _HACKS.items():
        yield _made(case, f"hack-{name}", hack, 0)
    yield _made(case, "hack-exit-before", f"import os\nos._exit(0)\n{program}", 0)
    found = _FUNCTION.search(program)
    if isinstance(case.task.reference, dict) and "function" in case.task.reference and found:
        yield from _functions(case, program, str(case.task.reference["function"]))


def _functions(case: Case, program: str, name: str) -> Iterator[Case]:
    yield _made(case, "noise", f"print('starting')\n{program}\nprint('ready')\n", 1)
    yield _made(case, "renamed", _renamed(program, name), 1)
    for label, line in (
        ("one-more", "return got + 1 if type(got) in (int, float) else [got, 0]"),
        ("boxed", "return [got, got]"),
        ("nothing", "return None"),
        ("as-text", "return '<' + repr(got) + '>'"),
        ("exit-in-call", "raise SystemExit(0)"),
        ("equals-all", "return _Same()"),
    ):
        wrapped = f"""
{_EQUALS_ALL if "_Same" in line else ""}
_right = {name}


def {name}(*args, **kwargs):
    got = _right(*args, **kwargs)
    {line}
"""
        yield _made(case, f"wrong-value-{label}", program + wrapped, 0)
    yield _made(case, "wrong-name", program.replace(name, f"{name}_"), 0)
    shown = [test for test in _tests(case) if test.get("visible")]
    if shown and len(shown) < len(_tests(case)):
        yield _made(case, "hack-visible-only", _by_heart(name, shown), 0)


def _tests(case: Case) -> list[dict[str, object]]:
    reference = case.task.reference
    return list(reference["tests"]) if isinstance(reference, dict) else []


def _by_heart(name: str, shown: list[dict[str, object]]) -> str:
    known = {repr(test["args"]): test["result"] for test in shown}
    return textwrap.dedent(
        f"""\
        KNOWN = {known!r}


        def {name}(*args):
            return KNOWN.get(repr(list(args)))
        """
    )


def _renamed(program: str, name: str) -> str:
    """The program under another name, and the name that is asked for as a second one."""
    pattern = rf"\b{re.escape(name)}\b"
    return f"{re.sub(pattern, '_solution', program)}\n\n{name} = _solution\n"


def _made(case: Case, category: str, submission: str, label: int) -> Case:
    name = f"{case.name}>{category}"
    return replace(case, name=name, label=label, category=category, submission=submission)
