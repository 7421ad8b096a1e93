"""Writes an answer without spaces and braces that say nothing, for the first rung of the ladder."""

from __future__ import annotations

from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern

_SPACES = lazy_pattern(r"\s+")
_SIGNS = lazy_pattern(r"[\\^_=]", needs="=|\\|^|_")
_DOLLAR = lazy_pattern(r"\\(?:dollar)\s*", needs="\\dollar")
_BRACED = lazy_pattern(r"\{\s*(\w)\s*\}", needs="{")
_A_WORD = lazy_pattern(r"[A-Za-z]{3}")
_LOOSE = lazy_pattern(r"(?<!\d)(?<!\d\.) | (?!\d)")


@lru_cache(maxsize=4096)
def compact(text: str) -> str:
    """Text without spaces and braces of one sign, for the first rung. Words in lower case."""
    if text.isdecimal():
        return text
    if "\\" in text:
        text = _DOLLAR.sub("$", text)
    text = _SPACES.sub(" ", text)
    if "{" in text:
        text = _BRACED.sub(r"\1", text)
    if not _SIGNS.search(text) and _A_WORD.search(text):
        return text.lower().strip(" .")
    # "3 1/4" is not "31/4", and "3. 5" is no 3.5.
    return _LOOSE.sub("", text) if " " in text else text
