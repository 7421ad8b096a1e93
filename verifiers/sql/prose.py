"""Finds the one query that stands between lines of prose, without a fence or a tag."""

from __future__ import annotations

import re

from verigym.reply import takes_back

_START = re.compile(
    r"^[ \t]*(?:SELECT\b|WITH\s+(?:RECURSIVE\s+)?[\w`\"]+\s*(?:AS\b|\())", re.I | re.M
)
_GOES_ON = re.compile(
    r"\s*(?:[(),]|--|(?:FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|INTERSECT|EXCEPT|JOIN|LEFT"
    r"|RIGHT|FULL|INNER|CROSS|ON|AND|OR|WINDOW)\b)",
    re.I,
)
_OPEN_END = re.compile(r"(?:[(,]|\b(?:UNION|ALL|INTERSECT|EXCEPT|AS))\s*$", re.I)
_END = re.compile(r"'[^']*'|;")
_BLANK = re.compile(r"\n[ \t]*\n\s*")


def query_in_prose(text: str) -> str | None:
    """Return the one stretch from a line that begins with SELECT or WITH to a semicolon, or to a blank line with
    prose behind it; None if there are two, or if the text takes it back."""
    found = _START.search(text)
    if found is None:
        return None
    stop = _stop(text, found.start())
    rest = text[stop:]
    if _START.search(rest) or takes_back(rest):
        return None
    return text[found.start() : stop].strip()


def _stop(text: str, start: int) -> int:
    ends = (m.start() for m in _END.finditer(text, start) if m[0] == ";")
    stop = next(ends, len(text))
    for blank in _BLANK.finditer(text, start, stop):
        behind, before = (
            text[blank.end() : stop],
            text[max(start, blank.start() - 40) : blank.start()],
        )
        if behind and not _GOES_ON.match(behind[:20]) and not _OPEN_END.search(before):
            return blank.start()
    return stop
