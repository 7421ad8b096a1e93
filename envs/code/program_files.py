"""Programs that tasks are made of: files in envs/code/programs, which ruff and mypy read like any other.

In such a file, upper-case names stand for what is drawn for each task: the lines above the marker give them
example values, so that the file is a program by itself. The text below the marker is what a task is made
from. In Verilog the names are macros, and the module's last line is no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

MARKER = "# The program:\n"
VERILOG_MARKER = "// The logic:\n"


@cache
def program(path: str) -> str:
    """Return the text below the marker of `programs/PATH`, such as `slow/pairs_to.py`."""
    return _text(path).partition(MARKER)[2]


@cache
def body(path: str) -> str:
    """Return the lines of a program that holds one function, without its first line, indented as they
    are."""
    return program(path).partition("\n")[2]


def filled(text: str, values: Mapping[str, int | str]) -> str:
    """Return `text` with the values of its upper-case words that have one."""
    return re.sub(r"\b[A-Z]+\b", lambda m: str(values.get(m.group(), m.group())), text)


def fill_logic(name: str, **values: int | str) -> str:
    """Return what stands between the ports and `endmodule` in `programs/verilog/NAME.v`, with the values of
    its macros."""
    logic = _text(f"verilog/{name}.v").partition(VERILOG_MARKER)[2].removesuffix("\nendmodule\n")
    return re.sub(r"`([A-Z]+)\b", lambda m: str(values[m.group(1)]), logic)


@cache
def _text(path: str) -> str:
    return (files("verigym.envs.code.programs") / path).read_text(encoding="utf-8")
