"""Tells if a clause that has the right answer speaks of something else: another deed, time, relation or a longer name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.claim_values import is_range
from verigym.verifiers.qa.claim_view import OTHER, ClaimClause, View
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
    BELONGING,
    BESIDE,
    COPULAS,
    GENERIC,
    OPPOSITES,
    PEOPLE,
    PLACE_TITLES,
    REFERRING,
    RELATIVES,
    STARTING,
    THINGS,
    TITLED,
)
from verigym.verifiers.qa.deeds import deeds_in, is_converse, tells_another_deed
from verigym.verifiers.qa.places import (
    asks_person,
    asks_place,
)
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    ARTICLES,
    FUNCTION,
    GIVEN,
    PAST,
    SAYS,
    VERBS,
    acts,
    is_word,
)

MAKING = frozenset(
    """
    write wrote written compose composed create created make made paint painted direct directed design designed
    invent invented discover discovered build built found founded develop developed sing sang recorded produced
    author novel composer
    """.split()  # noqa: SIM905
)

ORIGINS = frozenset(
    """
    came come comes gift present made derived stems originated originates obtained produced extracted
    """.split()  # noqa: SIM905
)

_SUPERLATIVES = frozenset().union(*(one | other for one, other in OPPOSITES[1:2]))

_CREDITING = frozenset(
    """
    published penned authored produced released finished completed credited attributed belongs belong goes went due thanks done
    came comes gave began started played performed work works
    """.split()  # noqa: SIM905
)

_USING = frozenset("read known seen heard kept held sold bought taught told lost worn sent".split())  # noqa: SIM905

_WITH = frozenset(
    """
    pay pays paid start starts started begin begins began opens opened made filled goes went ends ended use
    """.split()  # noqa: SIM905
)


_REPLACING = frozenset(
    [
        "replaced",
        "superseded",
        "supplanted",
        "displaced",
        "ousted",
        "overtook",
        "surpassed",
        "outnumbered",
    ]
)


def tells_another(view: View, clause: ClaimClause) -> bool:
    """Return True if a clause is about another deed; "open until @" is no other one than to close."""
    i = clause.pieces.index(ANSWER)
    lead, row = clause.low[:i], view.asked.row
    verb = next((word for word in clause.low[i + 1 : i + 2] if word.isalpha()), "")
    if row[:1] == ("who",) and len(row) > 1 and row[1] not in VERBS and not deeds_in(row[1:2]):
        says = acts(verb) and verb not in VERBS and verb not in SAYS
        return (verb in PAST or says) and not any(map(view.same_verb, clause.low))
    return (
        tells_another_deed(clause.low, view.asked)
        and "until" not in clause.low
        and not is_converse(lead, view.asked)
    )


def is_another_relation(view: View, clause: ClaimClause) -> bool:
    """Return True for "@ was her daughter", where the mother is asked for."""
    asked = RELATIVES.intersection(view.asked.row)
    said = RELATIVES.intersection(clause.low)
    return bool(asked) and bool(said) and asked.isdisjoint(said)


def is_ranked(view: View, lead: Sequence[str]) -> bool:
    """Return True for "The largest city of Canada is @", where nothing is compared in the question."""
    return (
        not view.comparing
        and lead[:1] == ("the",)
        and len(lead) > 2
        and (lead[1] in _SUPERLATIVES and not view.knows(lead[2]))
    )


def is_longer(view: View, clause: ClaimClause, i: int) -> bool:
    """Return True if the answer is a part of a longer name: "Leopold @", "@ Carver", "@-Müller"."""
    pieces = clause.pieces
    left, right = pieces[i - 1] if i else "", (*pieces[i + 1 :], "")[0]
    if view.sort == "value":
        return False
    if right == "-" or left == "-":
        return True
    if view.is_strange(left, i - 1, clause) or _is_mistitled(view, left):
        return True
    low = right.lower()
    if low in view.rivals:
        return True
    return right[:1].isupper() and not view.knows(low) and low not in FUNCTION | GENERIC


def _is_mistitled(view: View, left: str) -> bool:
    """Return True for "Mount Paris", "King Paris", "Mrs. John F. Kennedy": a title makes it another thing."""
    low = left.lower()
    if not left[:1].isupper() or low in view.answer or view.knows(low):
        return False
    if low in PLACE_TITLES:
        return "where" not in view.asked.row and low not in ("city",)
    return low in ("mrs", "lady", "miss") or (
        low in TITLED
        and asks_place(view.asked)
        and not asks_person(view.asked)
        and low not in ("st", "saint")
    )


def is_of_other_thing(view: View, clause: ClaimClause, before: Sequence[ClaimClause]) -> bool:
    """Return True for "The Lusitania sank in @", where it is asked when the Titanic sank."""
    lead = clause.low[: clause.pieces.index(ANSWER)]
    named = _named_subject(view)
    if named and named.isdisjoint(word.removesuffix("'s") for word in lead):
        known = REFERRING.intersection(lead)  # "Armstrong landed there"
        if view.sort == "value" and view.strangers(clause, 2) and not known:
            return not any(map(view.has_name, before)) and _does_asked(view, lead)
    return (
        view.sort == "value"
        and bool(view.names)
        and lead[:1] == ("the",)
        and not REFERRING.intersection(lead)
        and _does_asked(view, lead)
        and bool(view.strangers(clause, 4))
        and not any(map(view.has_name, (*before, clause)))
    )


def is_replaced(view: View, clause: ClaimClause) -> bool:
    """Return True for "beans replaced @", where nothing is asked of what was replaced."""
    before = ("", *clause.low[: clause.pieces.index(ANSWER)])[-1]
    return before in _REPLACING and not view.knows(before)


def _does_asked(view: View, lead: Sequence[str]) -> bool:
    """Return True if words tell of the deed that is asked for."""
    return not deeds_in(lead).isdisjoint(deeds_in(view.asked.row)) or any(
        acts(word) and word not in VERBS and view.knows(word) for word in lead
    )


def _named_subject(view: View) -> frozenset[str]:
    """Return the name of whoever does what is asked: "When did @ first reach ..."."""
    row = view.asked.row
    at = next((k for k, word in enumerate(row[:4]) if word in ("did", "was", "were")), -1)
    subject = row[at + 1 : at + 2] if at >= 0 else ()
    return view.names.intersection(subject)


def _is_receiver(view: View, lead: Sequence[str], rest: Sequence[str]) -> bool:
    """Return True for "a gift to @ from Italy" and "written for @ by her brother": who did it is named behind."""
    joint = ("", *lead)[-1]
    if joint not in ("for", "to") or joint in view.asked.row[-1:]:
        return False
    doer = "by" if joint == "for" else "from"
    return doer in rest and doer not in lead and (doer == "by" or doer not in view.asked.row)


def is_second_object(view: View, clause: ClaimClause) -> bool:
    """Return True for "plants absorb oxygen and give off @", where it is asked what they absorb."""
    lead = clause.low[: clause.pieces.index(ANSWER)]
    if "and" not in lead[2:] or {"do", "does", "did"}.isdisjoint(view.asked.row):
        return False
    at = len(lead) - 1 - tuple(reversed(lead)).index("and")
    done = lead[at + 1 :]
    return (
        0 < len(done) < 3
        and done[0] not in FUNCTION
        and not any(map(view.knows, (*done, lead[at - 1])))
        and lead[at - 1] not in FUNCTION
        and view.knows(lead[at - 2])
    )


def _is_time_beside(view: View, rest: Sequence[str]) -> bool:
    """Return True for "@ was the year after it ended"."""
    beside = {"before", "after"}.difference(view.asked.row).intersection(rest[:5])
    return bool(beside) and rest[:2] in (("was", "the"), ("is", "the"))


def is_aside(view: View, clause: ClaimClause, i: int) -> bool:
    """Return True if the clause speaks of something else that has to do with the answer: "the son of @", "than @"."""
    low = clause.low
    lead = [word for word in low[:i] if is_word(word) or word in (OTHER, GIVEN)]
    lead = _without_relative(view, lead)
    if is_replaced(view, clause):
        return True
    if is_second_object(view, clause):
        return True
    if _is_receiver(view, lead, low[i + 1 :]) or _is_time_beside(view, low[i + 1 :]):
        return True
    if (
        len(lead) > 1
        and lead[-1] in RELATIVES
        and lead[-2].endswith(("'s", "s'", "his", "her", "their"))
    ):
        lead = lead[:-2]  # "Igor's son @"
    if any(word in RELATIVES and not view.knows(word) for word in lead):
        return True
    k = len(lead) - 1
    while k >= 0 and (
        lead[k] in ARTICLES
        or not (lead[k] in ADJOINING | BESIDE or acts(lead[k]) or lead[k] in VERBS)
    ):
        k -= 1
    if k < 0:
        return False
    word = lead[k]
    if word == "with" and (view.sort == "value" or (k and lead[k - 1] in _WITH)):
        return False
    if is_range(view, clause, i):
        return False
    if word in BESIDE and not (word in view.asked.row and view.sort != "value"):
        if word == "between" and "and" in view.answer:
            return False
        return view.sort != "value" or word not in ("between", "about", "behind")
    if word == "of":
        head = next((one for one in reversed(lead[:k]) if not one.endswith("ly")), "")
        if (
            view.knows(head)
            and head not in view.asked.kinds
            and COPULAS.intersection(low[i + 1 : i + 2])
        ):
            return True  # "The symbol of @ is sodium"
        of_what = ("of", "which") in view.asked.pairs or ("of", "what") in view.asked.pairs
        if head in ("centre", "center", "heart", "middle") and asks_place(view.asked):
            return False
        if head in THINGS and asks_person(view.asked) and k > 1 and COPULAS.intersection(lead[:k]):
            return False  # "It is the masterpiece of @"
        return bool(head) and head not in BELONGING and not (of_what and view.knows(head))
    if (
        word == "to"
        and k
        and lead[k - 1]
        in ("close", "next", "compared", "similar", "related", "prior", "thanks", "according")
    ):
        return True
    if (
        word == "from"
        and k
        and re.match(r"(?:km|kilomet|mile|far$|away|hours?$|minutes?$)", lead[k - 1])
    ):
        return True
    return (
        word == "from"
        and view.sort != "value"
        and "from" not in view.asked.row
        and "where" not in view.asked.row
        and not ORIGINS.intersection(lead[:k])
    )


def _without_relative(view: View, lead: list[str]) -> list[str]:
    """Return "the river is" for "the river that flows through the capital is", if that says something of the question."""
    at = next((k for k, word in enumerate(lead) if word in ("that", "which", "who", "where")), 0)
    end = next((k for k in range(len(lead) - 1, at, -1) if lead[k] in COPULAS), 0)
    if not 0 < at < 4 or end < at + 2 or not view.share(lead[at:end]):
        return lead
    return [*lead[:at], *lead[end:]]


def is_of_another_time(view: View, rest: Sequence[str]) -> bool:
    """Return True for "@ was it until 1988" and "@ will become it", where the question is about now."""
    if "will" in rest[:2] and "will" not in view.asked.row:
        return True
    now = not {"is", "are"}.isdisjoint(view.asked.row[:3])
    return now and "was" in rest[:2] and not {"until", "till"}.isdisjoint(rest)


def is_another_deed(view: View, low: Sequence[str], i: int) -> bool:
    """Return True for "inspired by @", "dedicated to @", "@ read it", where the one who made something is asked for."""
    if not asks_person(view.asked) or MAKING.isdisjoint(view.asked.row):
        return False
    fitting = MAKING | _CREDITING | VERBS | COPULAS
    lead = [word for word in low[:i] if is_word(word)]
    k = max((k for k, word in enumerate(lead) if word in ("by", "to")), default=-1)
    if k > 0:
        deed = lead[k - 1]
        return not (deed in fitting or view.knows(deed)) and (
            deed.endswith("ed") or acts(deed) or lead[k] == "to" or deed in _USING
        )
    first = next((word for word in low[i + 1 :] if is_word(word) and not word.endswith("ly")), "")
    said = [word for word in lead if word not in ARTICLES | TITLED | PEOPLE | STARTING]
    return (
        bool(first)
        and not said
        and low[i + 1].isalpha()
        and not (
            first in fitting | ADJOINING
            or view.knows(first)
            or first in ("and", "himself", "herself")
        )
    )
