"""The programs that call a policy's function inside the sandbox; one a language.

Each reads a call from standard input (`{"function", "args", "kwargs"}`), loads the file
`solution.<ending>` beside it, makes the call and prints the value as one marked line. They see one
test's input and nothing else. A policy's code shares their process and may do with it as it likes:
all that it can forge is the answer to this one input, which it might as well have returned.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

MARK: Final = b"\x1everigym-answer "
"""Begins the line of an answer. No secret: see above."""

SOLUTIONS: Final = {
    "javascript": "solution.js",
    "php": "solution.php",
    "python": "solution.py",
    "ruby": "solution.rb",
}
"""The languages with a driver, and the name under which it finds the policy's program."""

KEYWORDS: Final = frozenset({"python", "ruby"})
"""Languages whose functions take arguments by name."""


@cache
def driver(language: str) -> str:
    """Return the text of the driver for `language`, one of `SOLUTIONS`."""
    ending = SOLUTIONS[language].rpartition(".")[2]
    return (files(__package__) / f"call_{language}.{ending}").read_text(encoding="utf-8")
