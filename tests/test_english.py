"""Docstrings say what a thing does or is, in a sentence that starts with a verb or a noun phrase."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

FOLDERS = (
    "verigym",
    "sandbox",
    "verifiers",
    "envs",
    "server",
    "agents",
    "trainers",
    "tests",
    "benchmarks",
    "examples",
)
"""Folders of which every docstring, those of attributes included, is checked."""

PROGRAMS = ROOT / "envs" / "code" / "programs"
"""Programs that tasks show; their docstrings are texts of tasks."""

TELLTALE = re.compile(r"\s*(What|Where|Whether|How|Those|See)\b")
"""First words that announce a description and leave it to the reader."""

TELLTALE_QUOTED = re.compile(r"[\"']" + TELLTALE.pattern)
"""Text that a source must hold to have such a docstring; most files need no syntax tree."""


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings of modules, classes, functions and names: strings that are statements."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                yield text


def telltales(file: Path, name: str) -> list[str]:
    """Return `name:line: first line` for each docstring of `file` that begins with a telltale word."""
    source = file.read_text("utf-8")
    if not TELLTALE_QUOTED.search(source):
        return []
    return [
        f"{name}:{text.lineno}: {str(text.value).strip().partition(chr(10))[0]}"
        for text in docstrings(ast.parse(source))
        if TELLTALE.match(str(text.value))
    ]


def test_docstrings_begin_with_a_verb_or_a_noun_phrase():
    found = [
        line
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*.py"))
        if PROGRAMS not in file.parents
        for line in telltales(file, str(file.relative_to(ROOT)))
    ]
    assert found == [], (
        "start these docstrings with a verb or a noun phrase, as in "
        "'Return ...' or 'Seconds before ...':\n" + "\n".join(found)
    )


def test_a_telltale_is_found_in_every_place(tmp_path):
    file = tmp_path / "sample.py"
    file.write_text(
        '"""What this is."""\n'
        'SIZE = 1\n"""How many."""\n'
        'class Box:\n    r"""\n    Those of it.\n    """\n'
        "    def open(self) -> None:\n        '''See `Box`.'''\n"
        '        """Return what is in it; \\"Where\\" is data."""\n'
        'WORDS = ("What", "Whether it is")\n'
        '"""Whatever else."""\n'
    )
    assert telltales(file, "f") == [
        "f:1: What this is.",
        "f:3: How many.",
        "f:5: Those of it.",
        "f:9: See `Box`.",
    ]


CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)

SHARED = {"AnswerParams", "AnswerVerifier", "Kind", "Problem", "Repair", "Writer"}
"""Names that stand for classes of several files, whose folders make the meaning clear. To be shortened, never
lengthened; names with an underscore are private to their file."""


def test_a_name_is_one_class():
    found: dict[str, list[str]] = {}
    for folder in FOLDERS:
        if folder not in ("tests", "benchmarks", "examples"):
            for file in sorted((ROOT / folder).rglob("*.py")):
                if PROGRAMS not in file.parents:
                    for name in CLASS.findall(file.read_text("utf-8")):
                        found.setdefault(name, []).append(str(file.relative_to(ROOT)))
    shared = {name: files for name, files in found.items() if len(files) > 1}
    new = {name: files for name, files in shared.items() if name not in SHARED}
    assert not new, f"give these classes names of their own: {new}"
    gone = SHARED - shared.keys()
    assert not gone, f"these names are one class now; take them out of SHARED: {sorted(gone)}"
