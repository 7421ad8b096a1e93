"""Reads the parts of a lettered question by what each asks for: "13 cows and 17 chickens" for "(a) How many chickens are
there? (b) How many cows are there?".

The values stand in the last sentence or in a table. Not covered: parts that ask for two things of one name.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.claimed_value import HEDGES
from verigym.verifiers.math.claiming_sentences import claiming_sentence
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.question_focus import root

_PART = lazy_pattern(
    r"\(?\b([a-h]|i{1,3}|[1-8])[).]\s*(?:how many (?P<noun>[a-z]{3,20})\b"
    r"|(?:what (?:is|was)|find|compute|calculate|determine|give) (?:the|its|their) (?P<name>[a-z]{3,20})\b(?! of the (?:first|second)))",
    re.IGNORECASE,
)
_ROW = lazy_pattern(
    r"^\s*\|\s*(?P<name>[^|\n]{2,40}?)\s*\|\s*(?P<value>[^|\n]{1,40}?)\s*\|\s*$", re.MULTILINE
)
_COUNT = lazy_pattern(
    r"(?<![\w.,$])(?P<count>\d[\d,]*) (?:of them (?:are|were) )?(?P<noun>[a-z]{3,20})\b"
)
_NAMED = lazy_pattern(
    r"\b(?P<name>[A-Za-z]{3,20})(?: is| are| was|:| ?=) ?(?P<value>-?\$?\d[\d.,/]*(?: ?[a-z%°]{1,8}[²³]?)?)(?=[\s,;.]|$)"
)
_DENIED = lazy_pattern(
    r"\b(?:not|never|no|nor|than|each|every|per|least|most|more|fewer|less)\b|n't\b"
)


def parts_by_name(labels: tuple[str, ...], question: str, reply: str) -> list[str] | None:
    """The value of each part, in the order of the labels; None if the reply does not tell them by name."""
    asked = {match[1]: root(match["noun"] or match["name"]) for match in _PART.finditer(question)}
    wanted = [asked.get(label, "") for label in labels]
    if not all(wanted) or len(set(wanted)) < len(wanted):
        return None
    text = reply.replace("**", "").strip()
    rows = list(_ROW.finditer(text))
    if rows and not text[rows[-1].end() :].strip():
        pairs = [
            (row["name"].split()[-1], row["value"])
            for row in rows
            if re.search(r"\d", row["value"])
        ]
    else:
        said = claiming_sentence(text)
        if not said or HEDGES.search(said) or _DENIED.search(said):
            return None
        pairs = [(match["noun"], match["count"]) for match in _COUNT.finditer(said)]
        pairs += [(match["name"], match["value"]) for match in _NAMED.finditer(said)]
    found: dict[str, str] = {}
    for name, value in pairs:
        if found.setdefault(root(name), value) != value:
            return None
    return [found[name] for name in wanted] if all(name in found for name in wanted) else None
