"""Reads a reply in words of its own whose only candidate is the right answer: "Dame @ introduced him in ...", "Her
eldest son succeeded her as King @".

Read where no other reading states the answer. No word may doubt, deny, choose or take back; no other name may stand
where a candidate can, that is, in front of the first preposition of a clause or behind "by"; the answer may not stand
behind a preposition that sets it beside something else; and the reply must speak of what is asked: it has a word or name of
the question, or refers to it ("it", "him", "the role").

Not covered: questions with a choice or a negation, and replies of more than two sentences.
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.asked import QuestionWords, asks_when, asks_whether
from verigym.verifiers.qa.claim_asides import (
    is_another_relation,
    is_longer,
    is_of_other_thing,
    is_ranked,
    is_replaced,
    is_second_object,
    tells_another,
)
from verigym.verifiers.qa.claim_clauses import sentences_in, split_clauses
from verigym.verifiers.qa.claim_rivals import is_elsewhere, is_rival, is_undoing
from verigym.verifiers.qa.claim_view import OTHER, ClaimClause, Sort, View
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
    BELONGING,
    BESIDE,
    CHOOSING,
    COPULAS,
    DOUBTING,
    GOES_ON,
    RANKING,
    REFERRING,
    RELATIVES,
    SCORE,
    THINKING,
    TURNS,
    UNDOING,
    WEAKENING,
)
from verigym.verifiers.qa.deeds import deeds_in
from verigym.verifiers.qa.places import asks_place
from verigym.verifiers.qa.roles import has_role
from verigym.verifiers.qa.sentence_words import ANSWER, ARTICLES, acts

_MOST_WORDS = 40
_REFUSES = (CHOOSING, DOUBTING, GOES_ON, THINKING, WEAKENING)
_ADDS = frozenset(
    [
        "or",
        "either",
        "also",
        "too",
        "another",
        "other",
        "others",
        "but",
        "however",
        "except",
        "almost",
        "nearly",
        "theirs",
        "ours",
        "hers",
    ]
)
_OTHER_WORDS = {
    "end": frozenset("ceased stopped concluded over".split()),  # noqa: SIM905
    "begin": frozenset(["commenced"]),
    "sink": frozenset("foundered lost wrecked".split()),  # noqa: SIM905
}
"""Words for what a question asks, that may also tell of something else."""
_OBJECTS = frozenset("it they he she this that them him her".split())  # noqa: SIM905
_WORKS = frozenset("work works creation brainchild masterpiece".split())  # noqa: SIM905
_RULED = frozenset("governed ruled administered run".split())  # noqa: SIM905
_SUFFERS = re.compile(
    rf"{ANSWER} (?:was|were|is|are) \w+ (?:with|by|from|after|for) (?:it|them|him|her)\b"
)
_AT_TIME = frozenset("in on during of since".split())  # noqa: SIM905
_PLACING = frozenset("in at on".split())  # noqa: SIM905
_ENDING = frozenset("until till will would used moved from instead formerly once no".split())  # noqa: SIM905
_DIRECTED = frozenset(
    """
    succeeded succeeds succeed preceded precedes precede defeated defeats defeat beat beats followed follows replaced replaces married
    killed hired taught teaches orbits employed
    """.split()  # noqa: SIM905
)
"""Verbs whose subject and object may not be exchanged."""
_BESIDE_MAKING = frozenset(
    """
    hated loved liked disliked read reviewed inspired criticised criticized praised translated edited illustrated bought owned stole sold
    restored copied visited saw watched admired studied performed starred appeared narrated adapted dedicated mentioned described banned burned
    lost refused rejected commissioned funded financed sponsored recommended quoted plagiarised plagiarized imitated parodied reprinted met knew
    taught sent staged left hosted sponsored produced managed filmed photographed influenced attended interpreted conducted collected wanted tried planned failed hoped supposed thought guessed dreamt claimed pretended
    """.split()  # noqa: SIM905
)
"""Verbs for acts of somebody upon a thing that another one made."""


def is_sole(masked: str, asked: QuestionWords, sort: Sort, answer: frozenset[str]) -> bool:
    """Return True if the right answer, `ANSWER` in `masked`, is the only candidate of a reply that speaks of what is asked."""
    if asked.is_negated or asks_whether(asked) or len(asked.row) < 3:
        return False
    if sort == "value" and (OTHER in masked or not asks_when(asked)):
        return False
    masked = _WITHIN.sub(r"\1", _KNOWN_AS.sub(ANSWER, masked))
    if "runner-up" in asked.row:
        masked = _SECOND.sub(f"{ANSWER} was the runner-up", masked)
    sentences = sentences_in(masked)
    if not 0 < len(sentences) < 3 or len(masked.split()) > _MOST_WORDS:
        return False
    view = View(asked, sort, answer)
    if view.is_choice or any(
        one.endswith("?") or any(pattern.search(one) for pattern in _REFUSES) for one in sentences
    ):
        return False
    clauses = [clause for one in sentences for clause in split_clauses(view, one)]
    if not clauses or ANSWER not in masked or any(_refuses(view, one) for one in clauses):
        return False
    if any(
        is_rival(view, one, True, False, ())
        for one in clauses
        if ANSWER not in one.pieces and not _is_circumstance(view, one)
    ):
        return False
    own = [one for one in clauses if ANSWER in one.pieces]
    others = [one for one in clauses if ANSWER not in one.pieces]
    if any(
        is_of_other_thing(view, one, others)
        or is_replaced(view, one)
        or is_second_object(view, one)
        for one in own
    ):
        return False
    return all(_gives(view, one) for one in own) and _speaks_of_asked(view, clauses)


_KNOWN_AS = re.compile(
    rf"^[A-Z][\w.'’ -]{{2,40}}, (?:better|also|professionally|popularly|commonly|usually|generally) known as {ANSWER},?"
)

_WITHIN = re.compile(
    r"(\b(?:in|at|near) [A-Z][\w'’-]+), [A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?(?=[.,]|$)"
)
"""A place, and the larger one that it lies in."""
_SECOND = re.compile(
    rf"{ANSWER} (?:(?:finished|came|placed|ended up|was) (?:in )?(?:second|2nd)(?: place)?(?: (?:after|by) losing (?:in )?the final)?|lost (?:in )?the final)"
    rf"(?: \d{{1,2}}[-–]\d{{1,2}})?(?: (?:to|against) [A-Z]\w+)?(?! (?:in|of|at|to|for)\b)"
)


def _refuses(view: View, clause: ClaimClause) -> bool:
    """Return True if a clause has another candidate, or a word that denies, adds or takes back."""
    if view.denies(clause) or OTHER in clause.pieces:
        return True
    words = set(clause.words)
    refusing = _ADDS | TURNS | UNDOING | _ENDING | _BESIDE_MAKING | {"than"}
    if not words.isdisjoint(refusing - set(view.asked.row) - _other_words(view)):
        return True
    text = clause.text()
    ranked = RANKING.search(text)
    if SCORE.search(text) or (ranked is not None and not view.asks(ranked[0])):
        return True
    if is_elsewhere(view, clause.low) or (
        ANSWER not in clause.pieces and is_undoing(view, clause, True)
    ):
        return True
    if clause.mark in ("or", "/", "plus", "&"):
        return True
    if _is_circumstance(view, clause):
        return False
    if view.strangers(clause, None, stop=True) and view.sort != "value":
        return True
    by = [k for k, word in enumerate(clause.low) if word in ("by", "with", "and")]
    return any(
        view.is_strange(piece, k, clause)
        for at in by
        for k, piece in enumerate(clause.pieces)
        if at < k <= at + 3 and piece != ANSWER
    )


def _is_circumstance(view: View, clause: ClaimClause) -> bool:
    """Return True for ", drawing on poems by Eliot" and ", after a war": a clause behind the answer that says how or when."""
    first = clause.low[0]
    return (
        clause.mark == ","
        and ANSWER not in clause.pieces
        and (
            first in ("after", "in", "during", "on", "at")
            or (first.endswith("ing") and len(first) > 5)
        )
        and view.share(clause.words) == 0
        and {"with", "and", "including"}.isdisjoint(clause.low)
    )


def _gives(view: View, clause: ClaimClause) -> bool:
    """Return True if the answer stands in a clause as what is asked for, and not beside it."""
    i = clause.pieces.index(ANSWER)
    before = next((word for word in reversed(clause.low[:i]) if word not in ARTICLES), "")
    if clause.pieces[i + 1 : i + 2] in (("'",), ("’",)) or clause.pieces.count(ANSWER) > 1:
        return False
    if view.sort == "value":
        return (
            before in _AT_TIME
            and not view.is_opposite(clause.low)
            and not _tells_another(view, clause)
        )
    if before == "from" and _RULED.intersection(clause.low[:i]) and "capital" in view.asked.row:
        return True
    if _SUFFERS.search(clause.text()):
        return False
    if before in BESIDE or (
        before in ADJOINING - {"by", "of", "as"}
        and not (before in _PLACING and asks_place(view.asked))
    ):
        return False
    if before in ("and", "for"):
        return False
    if before == "of" and view.knows(clause.low[max(i - 2, 0)]):
        return False
    if before == "of" and not (BELONGING | {"product"}).intersection(clause.low[max(i - 4, 0) : i]):
        return False
    if not _DIRECTED.isdisjoint(clause.low) and view.has_name(clause):
        return False
    titled = "as" in clause.low[max(i - 2, 0) : i] and clause.low[0] in ("her", "his")
    if not titled and not RELATIVES.isdisjoint(clause.low) and RELATIVES.isdisjoint(view.asked.row):
        return False
    return not (
        (view.is_swapped(clause.low) and not _is_made_by(view, clause, i))
        or is_ranked(view, clause.low[:i])
        or not has_role(clause.text(), view.asked)
        or is_longer(view, clause, i)
        or view.is_opposite(clause.low)
        or is_another_relation(view, clause)
        or tells_another(view, clause)
        or view.is_other_number(clause)
    )


def _is_made_by(view: View, clause: ClaimClause, i: int) -> bool:
    """Return True for "the concertos were composed by @", in a word of the question."""
    if i < 2 or clause.low[i - 1] not in ("by", "of"):
        return False
    lead = clause.low[i - 2]
    return lead in _WORKS if clause.low[i - 1] == "of" else view.knows(lead)


def _other_words(view: View) -> frozenset[str]:
    """Return the other words for what a question asks."""
    return frozenset[str]().union(
        *(said for word, said in _OTHER_WORDS.items() if word in view.asked.row)
    )


def _tells_another(view: View, clause: ClaimClause) -> bool:
    """Return True if a clause tells of another deed, and not in a word for the one that is asked for."""
    own = _other_words(view)
    said = deeds_in(word for word in clause.low if word not in own)
    asked = deeds_in(view.asked.row)
    return bool(said) and bool(asked) and said.isdisjoint(asked)


def _speaks_of_asked(view: View, clauses: list[ClaimClause]) -> bool:
    own = next(one for one in clauses if ANSWER in one.pieces)
    words = [
        word.removesuffix("'s").removesuffix("’s") for word in own.words if word not in ADJOINING
    ]
    if view.sort != "value" and not any(map(acts, own.low)) and COPULAS.isdisjoint(own.low):
        return False
    if view.share(words) > 0 or (view.sort != "value" and view.has_name(own)):
        return True
    if not deeds_in(own.low).isdisjoint(deeds_in(view.asked.row)):
        return True
    if not _other_words(view).isdisjoint(own.low):
        return True
    if "name" in view.asked.row and not {"born", "christened", "named"}.isdisjoint(own.low):
        return True
    if view.sort == "value":
        return False
    if deeds_in(own.low):
        return False  # "@ won it", where the runner-up is asked for
    lasting = view.asked.row[1:2] in (("is",), ("are",))
    return not lasting and not REFERRING.isdisjoint(own.words)
