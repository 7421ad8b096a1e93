"""Tells if an answer has the role that the question asks for: who succeeded, not who was succeeded."""

from __future__ import annotations

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.deeds import deeds_in
from verigym.verifiers.qa.sentence_words import ANSWER, ARTICLES, PIECE, VERBS, acts, forms_of, stem

_JOINTS = frozenset("by of from to with for against after before".split())  # noqa: SIM905
_OBJECTS = frozenset("has have had".split())  # noqa: SIM905


def has_role(lead: str, asked: QuestionWords) -> bool:
    """Return True unless the answer has the other role of the question's verb: who succeeded, not who was succeeded."""
    row = asked.row
    if row[:1] not in (("who",), ("which",), ("what",)):
        return True
    verb = next(
        (word for word in row[1:4] if (acts(word) or deeds_in([word])) and word not in VERBS), ""
    )
    if row[:1] == ("who",) and row[1:2] in (("was",), ("were",)) and row[3:4] == ("by",):
        verb = row[2]
    by_whom = row[1:2] and row[1] in ("was", "were", "is") and "by" in row[3:5]
    if not verb or (row[1:2] and row[1] in VERBS and not by_whom):
        return True
    low = [piece.lower() for piece in PIECE.findall(lead)]
    if ANSWER not in low:
        return True
    i = low.index(ANSWER)
    forms = {stem(one) for one in forms_of(verb)}
    deeds = deeds_in([verb])
    places = [
        k
        for k, word in enumerate(low)
        if k != i
        and (word == "discover" or not word.endswith(("er", "or")))  # "the composer"
        and (
            ((acts(word) or by_whom) and stem(word) in forms)
            or not deeds.isdisjoint(deeds_in([word]))
        )
    ]
    if not places:
        return True
    k = places[0]
    if k and low[k - 1] in ARTICLES | {"of", "his", "her", "its"}:
        return True  # "the painter", "the author of it"
    if by_whom:
        return k < i or low[k - 1] in VERBS
    passive = k > 0 and low[k - 1] in ("is", "was", "were", "are", "been", "being")
    if k < i:
        between = low[k + 1 : i]
        joint = next((word for word in reversed(between) if word in _JOINTS), "")
        return joint in ("by", "of") or (
            joint == "" and bool((VERBS - _OBJECTS).intersection(between))
        )
    return not (passive and "by" in low[k:])
