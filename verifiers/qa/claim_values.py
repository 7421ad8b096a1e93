"""Tells if a number in a clause counts what is asked for, and is no bound or end of something else."""

from __future__ import annotations

from verigym.verifiers.qa.claim_view import OTHER, ClaimClause, View
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
)
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    FUNCTION,
    MEASURES,
    PAST,
    acts,
    is_word,
    stem,
)

_BOUNDING = frozenset(
    """
    over under than nearly almost least most above below to up between before after since until by not
    """.split()  # noqa: SIM905
)


def is_range(view: View, clause: ClaimClause, i: int) -> bool:
    """Return True for "from 1939 to @", where the end is asked for."""
    ends = {
        "end",
        "ended",
        "ends",
        "finish",
        "finished",
        "over",
        "close",
        "closes",
        "closed",
        "shut",
    }
    opened = OTHER in clause.low[max(i - 2, 0) : i] or "open" in clause.low[:i]
    return (
        clause.low[i - 1] in ("to", "until", "till")
        and opened
        and not ends.isdisjoint(view.asked.row)
    )


def is_counted(view: View, clause: ClaimClause) -> bool:
    """Return True unless the number counts something else than is asked: "42 dogs"."""
    i = clause.pieces.index(ANSWER)
    bare = len(clause.words) < 4 and not view.is_full(clause)
    before = clause.low[i - 1] if i else ""
    if (
        before in _BOUNDING
        and before not in view.asked.row
        and not (before in ("to", "until", "till") and is_range(view, clause, i))
    ):
        return False
    rest = clause.low[i + 1 :]
    if rest[:2] in (("and", "a"), ("or", "so"), ("or", "more")) or not rest:
        return not rest
    measured = view.asked.row[:1] == ("how",) and not {"many", "much"}.intersection(view.asked.row)
    if not view.asked.counted and not measured:
        return True
    nouns: list[str] = []
    for word in rest[:4]:
        if (
            not is_word(word)
            or word in FUNCTION
            or word in ADJOINING
            or word == "per"
            or (nouns and acts(word))
            or word in PAST
        ):
            break
        nouns.append(word)
    nouns = [word for word in nouns if not word.endswith("ly")]
    if bare and nouns and not view.asked.knows(nouns[0]):
        return False  # "@ dwarf planets"
    if measured:
        things = [word for word in nouns if word.endswith("s") and word not in MEASURES]
        return not things or any(map(view.asked.knows, things))
    if len(view.asked.counted) > 1:
        return not nouns or any(map(view.asked.knows, nouns))
    return not nouns or any(stem(word) in view.asked.counted for word in nouns)
