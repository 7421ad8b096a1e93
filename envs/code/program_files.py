"""Programs that tasks are made of: files in envs/code/programs, which ruff and mypy read like any other.

In such a file, upper-case names stand for what is drawn for each task: the lines above the marker give them
example values, so that the file is a program by itself. The text below the marker is what a task is made
from.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

MARKER = "# The program:\n"


@cache
def program(path: str) -> str:
    """Return the text below the marker of `programs/PATH`, such as `slow/pairs_to.py`."""
    text = (files("verigym.envs.code.programs") / path).read_text(encoding="utf-8")
    return text.partition(MARKER)[2]


@cache
def body(path: str) -> str:
    """Return the lines of a program that holds one function, without its first line, indented as they
    are."""
    return program(path).partition("\n")[2]
