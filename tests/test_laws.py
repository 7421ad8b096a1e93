"""Laws that a syntax tree can show broken: no deadline is an alarm (5), no broad handler gives a score (7)."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("verigym", "sandbox", "verifiers", "envs", "server", "agents", "trainers")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]

# Programs that run inside the sandbox, which ends them from outside.
INSIDE = ("sandbox/selfcheck/attacks/", "verifiers/code/strength/batch.py")
ALARMS = {"alarm", "setitimer", "SIGALRM"}
BROAD = {"Exception", "BaseException"}
VERDICTS = {"scored", "scored_by_parts", "unusable"}


def find_alarms(tree):
    """Yield the lines that set an alarm or handle its signal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ALARMS:
            names = {node.attr} if ast.unparse(node.value) == "signal" else set()
        elif isinstance(node, ast.ImportFrom) and node.module == "signal":
            names = {alias.name for alias in node.names}
        else:
            continue
        if names & ALARMS:
            yield node.lineno


def find_scores_for_anything(tree):
    """Yield the lines that return a number or a scored verdict for any exception whatever."""
    for handler in ast.walk(tree):
        if isinstance(handler, ast.ExceptHandler) and is_broad(handler.type):
            for node in ast.walk(handler):
                if isinstance(node, ast.Return) and is_score(node.value):
                    yield node.lineno


def is_broad(caught):
    if caught is None:
        return True
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(ast.unparse(kind) in BROAD for kind in kinds)


def is_score(value):
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in VERDICTS
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def search(find, word):
    """Return the places in the package that `find` yields lines of; each has `word` in its file."""
    found = []
    for path in FILES:
        name = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        if word in source and not name.startswith(INSIDE):
            lines = find(ast.parse(source, name))
            found += [f"{name}:{line}" for line in lines]
    return found


def test_no_deadline_is_an_alarm():
    found = search(find_alarms, "signal")
    assert not found, f"an alarm does not end a thread or a call into C; kill a process: {found}"


def test_no_broad_handler_gives_a_score():
    found = search(find_scores_for_anything, "except")
    assert not found, f"a bug must become a fault, never a score; name the exceptions: {found}"


@pytest.mark.parametrize(
    ("find", "source"),
    [
        (find_alarms, "import signal\nsignal.alarm(1)"),
        (find_alarms, "import signal\nsignal.setitimer(signal.ITIMER_REAL, 1)"),
        (find_alarms, "from signal import SIGALRM"),
        (find_scores_for_anything, "def f():\n try: g()\n except Exception: return 0"),
        (find_scores_for_anything, "def f():\n try: g()\n except: return 0.0"),
        (find_scores_for_anything, "def f():\n try: g()\n except (E, Exception): return scored(0)"),
        (
            find_scores_for_anything,
            "def f():\n try: g()\n except BaseException: return v.unusable()",
        ),
    ],
)
def test_what_breaks_them_is_found(find, source):
    assert list(find(ast.parse(source)))
