"""Examples of what regular expressions match: enough for the plain ones that queries hold.

Covers: letters, classes, groups, alternatives, anchors and counts. Everything else gives None.
"""

from __future__ import annotations

_CLASSES = {"d": "7", "w": "a", "s": " ", "D": "x", "W": "-", "S": "x", "b": "", "y": "", "m": ""}
_POSIX = {"alpha": "a", "digit": "7", "alnum": "a", "space": " ", "upper": "A", "lower": "a"}
_MAX_REPEATS = 40


def example_of(pattern: str) -> str | None:
    """Return a text that the regular expression matches; None if it is beyond this reader."""
    try:
        text, at = _alternatives(pattern, 0)
    except (_Unknown, IndexError, ValueError, RecursionError):
        return None
    return text if at == len(pattern) and len(text) <= 200 else None


class _Unknown(Exception):
    pass


def _alternatives(pattern: str, at: int) -> tuple[str, int]:
    """The first alternative's example; the others are only read over."""
    first, at = _sequence(pattern, at)
    while at < len(pattern) and pattern[at] == "|":
        _, at = _sequence(pattern, at + 1)
    return first, at


def _sequence(pattern: str, at: int) -> tuple[str, int]:
    out = ""
    while at < len(pattern) and pattern[at] not in "|)":
        one, at = _atom(pattern, at)
        times, at = _times(pattern, at)
        out += one * times
    return out, at


def _atom(pattern: str, at: int) -> tuple[str, int]:
    mark = pattern[at]
    if mark in "^$":
        return "", at + 1
    if mark == ".":
        return "x", at + 1
    if mark == "\\":
        return _CLASSES.get(pattern[at + 1], pattern[at + 1]), at + 2
    if mark == "(":
        at += 1
        if pattern[at] == "?":
            if pattern[at + 1] != ":":
                raise _Unknown
            at += 2
        text, at = _alternatives(pattern, at)
        if pattern[at] != ")":
            raise _Unknown
        return text, at + 1
    if mark == "[":
        return _listed(pattern, at + 1)
    if mark in "*+?{":
        raise _Unknown
    return mark, at + 1


def _listed(pattern: str, at: int) -> tuple[str, int]:
    """A character of a class like `[A-Z0-9]`."""
    negated = pattern[at] == "^"
    at += negated
    members, start = "", at
    while pattern[at] != "]" or at == start:
        if pattern.startswith("[:", at):
            end = pattern.index(":]", at)
            members += _POSIX.get(pattern[at + 2 : end], "")
            at = end + 2
        elif pattern[at] == "\\":
            members += _CLASSES.get(pattern[at + 1], pattern[at + 1])
            at += 2
        elif pattern[at + 1] == "-" and pattern[at + 2] != "]":
            low, high = ord(pattern[at]), ord(pattern[at + 2])
            members += "".join(map(chr, range(low, min(high, low + 127) + 1)))
            at += 3
        else:
            members += pattern[at]
            at += 1
    if negated:
        return next(c for c in "axA7 -" if c not in members), at + 1
    return (members[0] if members else ""), at + 1


def _times(pattern: str, at: int) -> tuple[int, int]:
    """Return how often the last atom is repeated, and the place to read on from."""
    times = 1
    if at < len(pattern) and pattern[at] in "*+?":
        at += 1
    elif at < len(pattern) and pattern[at] == "{":
        end = pattern.index("}", at)
        times = int(pattern[at + 1 : end].partition(",")[0] or 0)
        at = end + 1
    if times > _MAX_REPEATS:
        raise _Unknown
    if at < len(pattern) and pattern[at] in "?+" and pattern[at - 1] in "*+?}":
        at += 1
    return times, at
