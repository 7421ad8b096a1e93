"""Reads the values that the workings of a reply give to the letters that a question asks for: "x = 3, and then y = 4" for
a point, "hence x = 36°. The angles are 36°, 72°, ..." for x.

A letter that is given two values has none, and neither has one in workings that doubt, try or take back.

Not covered: letters with indices, and values in words.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_MOST_CHARS = 1500
_ASSIGNED = lazy_pattern(
    r"(?<![\w)}\]+*/^·×÷−-])(?<![-+*/·×÷−^=] )(?P<name>[a-z])\$? ?= ?\$?(?P<value>[-−]?\d[\d.]*(?<=\d)(?:/\d+)?(?: ?°)?)(?![\w^(√]|[.,]\d| ?[-+*/·×÷−^=]| ?[a-zA-Z]\b)",
    needs="=",
)
_TURNS = lazy_pattern(
    r"\b(?:wait|actually|sorry|mistake\w*|wrong|incorrect|correction|instead|rather|however|but|although|maybe|perhaps|possibly|might|if|suppose|assum\w+|let|try|trying|test|guess\w*|case|or|either|not|never|no|fails?|reject\w*|"
    r"extraneous|discard\w*|impossible|contradict\w*|unless|some|says?|said|claim\w*|thinks?|believes?|would|could|should|answers?|check\w*)\b|n't\b|\?|≠|\.\.\.|…|±",
    re.IGNORECASE,
)
_ASKS_LETTER = lazy_pattern(
    r"\b(?:find|determine|calculate|compute|solve for|what is|value of)\s+(?:the (?:exact )?value of )?\$?(?P<name>[a-z])\$?(?=\s*(?:[.?]|$))",
    re.IGNORECASE,
)
_GOES_ON = lazy_pattern(
    r"\$?\s*(?:degrees?)?\s*(?:[.!]\s*(?:(?:The|These|They|This|So the|Thus the)\b[^.!]*[.!]?)?)?\s*",
    re.DOTALL,
)
"""The end of a reply behind the value of a letter: nothing, or one sentence about something else."""
_ASKS_POINT = lazy_pattern(
    r"\b(?:point|intersect\w*|intersection|coordinates|meet|cross|solve|solution|system|vertex|midpoint|centre|center)\b",
    re.IGNORECASE,
)
_POINT = lazy_pattern(r"\(?\s*-?[\d./\\frac{}]+\s*,\s*-?[\d./\\frac{}]+\s*\)?", needs=",")


def assigned(reply: str, question: str, gold: str) -> str:
    """The value, or the point, that a reply gives to the letters which a question asks for; empty if it gives none."""
    text = reply[-_MOST_CHARS:]
    if "=" not in text or _TURNS.search(text):
        return ""
    found: dict[str, str] = {}
    last = None
    for match in _ASSIGNED.finditer(text):
        if found.setdefault(match["name"], match["value"]) != match["value"]:
            return ""
        last = match
    if last is None:
        return ""
    asked = _ASKS_LETTER.search(question)
    if asked is not None:
        is_said = set(found) == {asked["name"]} and _GOES_ON.fullmatch(text, last.end()) is not None
        return found[asked["name"]] if is_said else ""
    is_point = _POINT.fullmatch(gold) is not None and _ASKS_POINT.search(question) is not None
    if not is_point or set(found) != {"x", "y"} or text[last.end() :].strip(" .!$"):
        return ""
    return f"({found['x']}, {found['y']})"
