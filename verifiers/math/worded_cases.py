"""Reads functions by cases in words, "2 if n is odd, 0 if n is even", as the cases of TeX.

Not covered: conditions other than even, odd and comparisons, and a single case (`conditions.py`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.parser import parse
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.probing import points, probed_equal
from verigym.verifiers.math.trees import Node, TooBig, Unreadable

_MOST_CHARS = 300
_LABEL = lazy_pattern(r"^[A-Za-z](?:_\{?\w\}?|\(\w\))? ?= ?")
_CASE = lazy_pattern(
    r"(?P<value>[^,;:]{1,80}?),? (?:if|when|whenever|for)(?: all| every| any)? "
    r"(?:(?P<name>[A-Za-z])(?: is)?(?: an?)? (?P<parity>odd|even)|(?P<first>odd|even) (?P<of>[A-Za-z])|(?P<bound>[^,;:A-Za-z]{0,20}[A-Za-z] ?[<>=!][^,;:]{1,30}?))(?: integer)?"
    r"(?=(?P<end>\s*[.,;:]?\s*$)|\s*[,;]\s*(?:and |but )?| and )",
    needs="if|when|for",
)
_NEXT = lazy_pattern(r"\s*[,;]\s*(?:and |but )?| and ")
_OTHERWISE = lazy_pattern(
    r"(?P<value>[^,;:]{1,80}?),? (?:otherwise|else|elsewhere)[.]?", needs="otherwise|else"
)


def same_cases(gold: str, answer: str) -> bool:
    """Return True if a reference and an answer, of which one is cases in words, are the same function everywhere."""
    first, second = in_cases(gold), in_cases(answer)
    if first is None and second is None:
        return False
    try:
        wanted, found = (
            parse(first or _LABEL.sub("", gold)),
            parse(second or _LABEL.sub("", answer)),
        )
    except (Unreadable, TooBig):
        return False
    return (
        len(wanted.variables()) == 1
        and _is_everywhere(found, wanted.variables())
        and probed_equal(wanted, found) is True
    )


def _is_everywhere(node: Node, names: frozenset[str]) -> bool:
    """Return True if a function has a value at whole numbers of either parity, or at numbers of either sign."""
    whole = any(part.kind == "fn" and part.value == "mod" for part in node.walk())
    try:
        for point in points(names, whole, positive=whole):
            value_of(node, point)
    except (Undefined, TooBig):
        return False
    return True


@lru_cache(maxsize=4096)
def in_cases(text: str) -> str | None:
    """A cleaned text of two worded cases or more as cases of TeX; None for other text."""
    if len(text) > _MOST_CHARS:
        return None
    named = _LABEL.match(text)
    at = named.end() if named is not None else 0
    rows: list[str] = []
    while (case := _CASE.match(text, at)) is not None:
        rows.append(f"{case['value'].strip()} & {_condition(case)}")
        if case["end"] is not None:
            return _environment(rows)
        joint = _NEXT.match(text, case.end())
        at = case.end() if joint is None else joint.end()
    last = _OTHERWISE.fullmatch(text, at) if rows else None
    return None if last is None else _environment([*rows, last["value"].strip()])


def _condition(case: re.Match[str]) -> str:
    parity = case["parity"] or case["first"]
    return f"{case['name'] or case['of']} {parity}" if parity else str(case["bound"])


def _environment(rows: list[str]) -> str | None:
    body = " \\\\ ".join(rows)
    return f"\\begin{{cases}} {body} \\end{{cases}}" if len(rows) > 1 else None
