"""Finds the things that a question compares, "a square and a circle", "plan A ... plan B", and the one that a clause
says has what is asked for: "the circle has the greater area".

A clause counts if it compares with a word of the question and says nothing that the question does not ask, so that
"the circle has the greater perimeter" chooses nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.question_focus import Focus, root, roots
from verigym.verifiers.math.trees import names

_PAIR = lazy_pattern(
    r"\b(?:an?|one|the|regular) (?P<one>(?!which)[a-z]+(?: (?!of |with )[a-z]+)?)(?: (?:of|with) [^,?.]{1,25}?)?,? (?:and|or|versus|vs\.?) (?:an?|one|the|regular) (?P<other>[a-z]+)\b(?P<more>,? and an? )?",
    re.IGNORECASE,
    needs="and|or|versus|vs",
)
_LETTERED = lazy_pattern(r"\b(?P<noun>[A-Za-z][a-z]{2,}) (?P<letter>[A-DX-Z])\b(?![-(=^*/+])")
_AMOUNT = lazy_pattern(r"\bby (?:about |exactly )?[\d.,$€£]+ ?(?:[a-z]{1,12}\b)?", needs="by")
_COMPARES = lazy_pattern(r"\b(?:(?:more|less|fewer|most|least|first|last)|[a-z]{3,}(?:er|est))\b")
_NO_COMPARISONS = frozenset(
    names("number other over after under order water paper power whether perimeter diameter corner letter never "
          "together computer center counter answer interest forest rest test west player printer worker")
)  # fmt: skip
_THAN = lazy_pattern(r"\bthan\b.*", needs="than")
_IDLE = frozenset(
    root(word) for word in names("clearly therefore indeed also exactly one two overall")
)


@lru_cache(maxsize=4096)
def things_of(question: str) -> tuple[str, ...]:
    """The things that a question compares; empty if it names none in these ways."""
    lettered: dict[str, set[str]] = {}
    for match in _LETTERED.finditer(question):
        noun = match["noun"].lower()
        lettered.setdefault(noun, set()).add(f"{noun} {match['letter'].lower()}")
    several = [found for found in lettered.values() if len(found) > 1]
    if len(several) == 1:
        return tuple(sorted(several[0]))
    pairs = [match for match in _PAIR.finditer(question) if not match["more"]]
    return (pairs[0]["one"].lower(), pairs[0]["other"].lower()) if len(pairs) == 1 else ()


def is_chosen(thing: str, clause: str, focus: Focus, others: tuple[str, ...]) -> bool:
    """Return True if a clause without its lead says of a thing what the question asks for, and no more."""
    body = clause.lower()
    if not body.startswith(thing) or body[len(thing) : len(thing) + 1].isalnum():
        return False
    rest = body[len(thing) :].removeprefix("'s").removeprefix("’s")
    than = _THAN.search(rest)
    if than is not None:
        known = roots(" ".join(others)) | focus.words | _IDLE
        if not roots(than[0][4:]) <= known:
            return False
        rest = rest[: than.start()]
    rest = _AMOUNT.sub("", rest)
    said = roots(rest)
    compared = {
        root(word)
        for word in _COMPARES.findall(focus.clause.lower())
        if word not in _NO_COMPARISONS
    }
    return not compared.isdisjoint(said) and said <= focus.words | _IDLE
