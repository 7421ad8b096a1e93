"""Reads replies to questions that ask what is not so: "Which of these is not a reptile?", "Who did not sign?".

A clause that denies what the question denies states its subject ("The salamander is not a reptile"); so does the answer alone
("It is the salamander") and one that is excepted ("All but the salamander are reptiles"). A clause that denies it of another
candidate, or asserts it of the answer, makes the reply unread, and so does a second candidate alone.
"""

from __future__ import annotations

from verigym.verifiers.qa.claim_clauses import sentences_in, split_clauses
from verigym.verifiers.qa.claim_view import ClaimClause, View
from verigym.verifiers.qa.claim_words import (
    CHOOSING,
    COPULAS,
    DOUBTING,
    REFERRING,
    THINKING,
    WEAKENING,
)
from verigym.verifiers.qa.sentence_words import ANSWER, ARTICLES, FUNCTION, negates

_EXCEPTING = frozenset("except but besides excluding save".split())  # noqa: SIM905
_ALL = frozenset("all every each everything everyone everybody others other rest".split())  # noqa: SIM905
_ODD = frozenset("odd out exception only one that which".split())  # noqa: SIM905

_ANSWERING = frozenset("answer option choice".split())  # noqa: SIM905


def states_exception(view: View, masked: str) -> bool:
    """Return True if a reply, with `ANSWER` for the right answer, says that this and nothing else is not so."""
    if "?" in masked or any(
        one.search(masked) for one in (DOUBTING, WEAKENING, CHOOSING, THINKING)
    ):
        return False
    stated = False
    for sentence in sentences_in(masked):
        clauses = split_clauses(view, sentence)
        for clause in clauses:
            fits = _fits(view, clause, clauses[0])
            if fits is False:
                return False
            stated |= fits is True
    return stated


def _fits(view: View, clause: ClaimClause, first: ClaimClause) -> bool | None:
    """Return True for a statement of the answer, False for anything against it, None for a remark."""
    low = clause.low
    denied = any(negates(word) and word not in _EXCEPTING for word in low)
    about = view.share(low) > 0 or view.has_name(clause)
    named = [word for word in clause.words if word not in FUNCTION]
    if ANSWER not in clause.pieces:
        other = bool(view.rivals.intersection(low) or view.strangers(clause))
        if denied:
            return False if about or other or len(named) < 3 else None
        if about and clause.words[:1] and clause.words[0] in REFERRING:
            return False  # "Carrot. It is a fruit."
        bare = not view.is_full(clause) and not (named and named[0].endswith(("s", "ing", "ed")))
        return False if (other and bare) or clause.mark in ("or", "/", "not") else None
    i = clause.pieces.index(ANSWER)
    lead = [word for word in low[:i] if word not in ARTICLES]
    if view.rivals.intersection(low) or clause.mark in ("or", "/", "and", "&"):
        return False
    if not _EXCEPTING.isdisjoint(lead):
        return not denied and not _ALL.isdisjoint(lead)
    if denied:
        subject = not lead and any(map(negates, low[i + 1 : i + 4]))
        return bool(subject and about and "answer" not in low)
    if about and (view.is_full(clause) or lead):
        odd = not _ODD.isdisjoint(lead) and not COPULAS.isdisjoint(lead)
        return odd and "only" not in low
    if not lead or all(word in FUNCTION | _ODD | _ANSWERING for word in lead):
        ends = i == len(low) - 1
        return True if ends and (clause is first or clause.mark == "so") else None
    return None
