"""Tells if a clause that has the right answer states it: as its subject or complement, with no other candidate before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from verigym.verifiers.qa.claim_asides import (
    MAKING,
    ORIGINS,
    is_another_deed,
    is_another_relation,
    is_aside,
    is_longer,
    is_of_another_time,
    is_of_other_thing,
    is_ranked,
    tells_another,
)
from verigym.verifiers.qa.claim_rivals import LESSER, OUTDOING, is_elsewhere, is_other_name
from verigym.verifiers.qa.claim_values import is_counted, is_range
from verigym.verifiers.qa.claim_view import OTHER, ClaimClause, View, clause_of
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
    BELONGING,
    COPULAS,
    DENIALS,
    GENERIC,
    PEOPLE,
    REFERRING,
    RELATIVES,
    STARTING,
    THINGS,
    THINKING,
    TITLED,
    VERBISH,
)
from verigym.verifiers.qa.deeds import deeds_in
from verigym.verifiers.qa.places import (
    asks_person,
    asks_place,
)
from verigym.verifiers.qa.roles import has_role
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    ARTICLES,
    FUNCTION,
    GIVEN,
    VERBS,
    acts,
    is_word,
)

_WINNING = frozenset(
    [
        "won",
        "wins",
        "win",
        "gave",
        "gifted",
        "beat",
        "defeated",
        "invented",
        "made",
        "produced",
        "built",
        "lost",
    ]
)
_CONTAINING = frozenset("contains features includes has holds hosts houses".split())  # noqa: SIM905
_HINTING = frozenset("often sometimes said named cited mentioned and or".split())  # noqa: SIM905
_TELLING = frozenset(
    """
    went goes tops makes holds stands ranks covers accounts constitutes comprises rules governs leads boasts wins beats takes owns keeps
    wears carries bears runs flows lies sits forms contains became won held led ruled took wrote sang drew built spoke ran
    """.split()  # noqa: SIM905
)
_ABROAD = frozenset("el la der die das le les il lo un une una ein eine von de".split())  # noqa: SIM905


def judge_answer(
    view: View, clause: ClaimClause, is_core: bool, stated: bool, before: Sequence[ClaimClause]
) -> str:
    """Return the kind of a clause that has the right answer: `statement`, `told`, `rival`, `refusal` or `remark`."""
    i = clause.pieces.index(ANSWER)
    low = clause.low
    if low[0] in ("no", "none", "nothing", "nobody") and _is_unequalled(view, list(low[:i])):
        return "statement"
    if view.denies(clause):
        return "refusal" if not view.strangers(clause) or not stated else "remark"
    if THINKING.search(clause.text()) or ("used", "to") in pairwise(low):
        return "remark"
    if is_longer(view, clause, i) or (view.is_opposite(low) and not is_range(view, clause, i)):
        return "refusal" if is_core and not stated else "remark"
    rest, lead = low[i + 1 :], low[:i]
    if lead[:1] in (("some",), ("others",), ("several",)) and not view.asks(lead[0]):
        return "refusal"  # "Some have @, and some have 5"
    if (
        view.is_choice
        and not view.comparing.isdisjoint(low)
        and not view.rivals.isdisjoint(lead)
        and "than" in lead
    ):
        return "rival"
    if (
        view.is_choice
        and "than" in rest
        and view.strangers(clause)
        and view.rivals.isdisjoint(rest)
    ):
        return "remark"
    if rest[:2] == ("'", "s") or rest[:2] == ("’", "s"):
        return "statement" if _owns(view, lead, rest[2:]) else "remark"
    if clause.is_lead and not _asks_time_or_place(view):
        return "remark"
    if (
        is_aside(view, clause, i)
        or is_ranked(view, lead)
        or is_another_relation(view, clause)
        or tells_another(view, clause)
    ):
        return "remark"
    if not _fits(view, clause, i) or is_of_other_thing(view, clause, before):
        return "remark"
    full = (
        is_core
        or clause.is_lead
        or clause.mark == "so"
        or (clause.mark == "but" and view.is_full(clause) and len(clause.words) > 3)
    )
    said = [
        word
        for word in lead
        if is_word(word)
        and word not in ARTICLES | TITLED | (PEOPLE if asks_person(view.asked) else frozenset())
    ]
    if len(said) == 1 and said[0] in THINGS and len(lead) < 3 and view.sort != "value":
        said = []  # "The metal @"
    described = view.sort == "name" and asks_person(view.asked) and _describes(clause.pieces[:i])
    if described or not said or all(word in STARTING or word.endswith("ly") for word in said):
        ok, words = _is_subject(view, clause, rest, full, before), rest
    else:
        ok, words = _is_complement(view, clause, i, full), lead
    if ok:
        return "statement"
    told = (
        full and view.sort != "value" and _is_told(view, clause, [w for w in words if is_word(w)])
    )
    return "told" if told and not _is_of_doer(view, lead) else "remark"


def _is_unequalled(view: View, lead: Sequence[str]) -> bool:
    """Return True for "none is bigger than @", where the largest is asked for."""
    words = [word for word in lead if word not in ARTICLES][:-1]
    return (
        lead[-1 - (lead[-1] in ARTICLES) :][:1] == ["than"]
        and len(words) > 1
        and words[-1].endswith("er")
        and any(word.endswith("est") for word in view.asked.row)
        and not view.is_opposite(f"{word[:-2]}est" for word in words if word.endswith("er"))
    )


def _is_of_doer(view: View, lead: Sequence[str]) -> bool:
    """Return True for "the match was in @", where the one who won is asked for."""
    return view.asks_doer and bool(lead) and lead[-1] in ("in", "at", "on")


def _describes(lead: Sequence[str]) -> bool:
    """Return True for "the late", "Florence's own": words that lead to a name and say nothing of another."""
    words = [piece for piece in lead if is_word(piece)]
    return (
        len(words) < 5
        and bool(words)
        and words[-1].islower() | words[-1].endswith(("'s", "’s"))
        and (words[0].lower() in ARTICLES or words[0].endswith(("'s", "’s")))
        and not any(
            acts(word) or word in VERBS | ADJOINING | REFERRING | FUNCTION - ARTICLES
            for word in words[1:]
        )
    )


def _asks_time_or_place(view: View) -> bool:
    return view.sort == "value" or "where" in view.asked.row or asks_place(view.asked)


def _owns(view: View, lead: Sequence[str], rest: Sequence[str]) -> bool:
    """Return True for "General relativity is @'s theory": the thing asked for is that of the answer."""
    things = [word for word in rest if is_word(word)][:5]
    if not RELATIVES.isdisjoint(things) or not COPULAS.intersection(lead):
        return False
    return any(view.knows(thing) or thing in BELONGING | THINGS for thing in things)


def _fits(view: View, clause: ClaimClause, i: int) -> bool:
    """Return True if no other candidate stands before the answer, and no word takes the place of the question's."""
    if view.sort == "value":
        if OTHER in clause.pieces[:i] and not is_range(view, clause, i):
            return False
        if OTHER in clause.pieces[i + 1 :]:
            return False
    if view.sort != "value" or view.names:
        known = view.has_name(clause)
        referred = not REFERRING.isdisjoint(clause.low)
        nested = (
            "where" in view.asked.row
            and clause.low[i - 1] == "in"
            and referred
            and not ADJOINING.isdisjoint(clause.low[: i - 1])
        )
        if (
            view.strangers(clause, i)
            and not (view.sort == "value" and (known or referred))
            and not nested
        ):
            return False
        if (
            view.sort == "value"
            and view.names
            and view.strangers(clause)
            and not known
            and REFERRING.isdisjoint(clause.low)
        ):
            return False
    rest = clause.low[i + 1 :]
    if is_of_another_time(view, rest) or is_another_deed(view, clause.low, i):
        return False
    if rest[:3] == ("as", "well", "as") or (
        rest[:1] in (("with",), ("alongside",)) and _is_joined(view, clause, i)
    ):
        return False
    if is_elsewhere(view, rest) or view.is_other_number(clause):
        return False
    if not has_role(" ".join(clause.pieces), view.asked):
        return False
    lead = clause.low[:i]
    is_subject = not [w for w in lead if is_word(w) and w not in ARTICLES]
    return not view.is_swapped(clause.low if is_subject else lead)


def _is_joined(view: View, clause: ClaimClause, i: int) -> bool:
    """Return True for "@ with London", "@ with oxygen": a second candidate and nothing more."""
    rest = [piece for piece in clause.pieces[i + 2 :] if is_word(piece)]
    return all(piece[:1].isupper() for piece in rest) or (view.sort == "noun" and len(rest) < 3)


def _is_subject(
    view: View,
    clause: ClaimClause,
    rest: Sequence[str],
    is_full: bool,
    before: Sequence[ClaimClause],
) -> bool:
    words = [word for word in rest if is_word(word) or word in (OTHER, GIVEN)]
    if view.sort == "value" and not is_counted(view, clause):
        return False
    if view.sort == "value" and clause.mark == "so" and words and words[0] not in COPULAS:
        return True  # "of the 12, two stayed behind, so @ went on"
    if not words:
        if is_full or clause.mark in (":", "–", "—", "-"):
            return True
        lead = before[-1] if before else None  # "The first president, @, took office"
        if clause.mark == "but" and lead is not None and view.denies(lead):
            return (
                view.share(lead.low) > 0
                or view.has_name(lead)
                or set(lead.words) <= FUNCTION | DENIALS | view.strangers_low(lead)
            )
        if clause.mark != "," or lead is None or view.strangers(lead):
            return False
        if not view.is_full(lead):
            return view.share(lead.low) > 0.5
        return view.share(lead.low) > 0 and not (COPULAS | {"by"}).isdisjoint(lead.words[-5:])
    if words[0] in ADJOINING and is_full and not any(acts(w) for w in words if w not in GENERIC):
        return not is_other_name(
            view, clause_of("", clause.pieces[clause.pieces.index(ANSWER) + 1 :])
        )  # "@ in 1818"
    if (
        is_full
        and re.match(
            r"(?:is|was)\s(?:the|a)\s(?:one|person|man|woman|\w+)\s(?:who|that|which)\b",
            " ".join(words),
        )
        and words[2] in ("one", "person", "man", "woman", *view.asked.kinds)
    ):
        return not view.strangers(clause, None, stop=True)
    if is_full and words[0] in ("beat", "defeated", "overcame") and view.asked.knows("won"):
        return True
    if is_full and words[0] in OUTDOING and any(w.endswith("est") for w in view.asked.row):
        return view.comparing.isdisjoint(LESSER)
    if view.is_choice and is_full and OUTDOING.intersection(words[:3]):
        return view.comparing.isdisjoint(LESSER)
    known = view.has_name(clause)
    at = next((k for k, word in enumerate(words) if word in ADJOINING - {"of", "as"}), len(words))
    referred = not REFERRING.isdisjoint(words[: at + 1]) or words[-1] in (
        "did",
        "does",
        "do",
        "is",
        "was",
    )
    strangers = view.strangers(clause, None, stop=True)
    share = view.share(words)
    if strangers and view.names and not known and not referred:
        return False
    if strangers and view.sort == "value" and view.content and not share and not referred:
        return False  # "On @ the Tour has a rest day"
    if is_full and referred and words[0] in MAKING and not MAKING.isdisjoint(view.asked.row):
        return True
    if is_full:
        if "answer" in words[:4]:
            return True
        ended = words[-1] in ("did", "does", "do", "is", "was", "has")
        of_kind = not view.asked.kinds.isdisjoint(words)
        return share > 0 or known or (referred and (ended or of_kind or not view.content))
    return share > 0.5 or (known and share > 0) or (referred and share > 0)


def _is_complement(view: View, clause: ClaimClause, i: int, is_full: bool) -> bool:
    if view.sort == "value" and not is_counted(view, clause):
        return False
    lead = [word for word in clause.low[:i] if is_word(word)]
    if view.sort == "noun":
        k = max((k for k, word in enumerate(lead) if word in COPULAS), default=-1)
        if {"and", "or", "not"}.intersection(lead[k + 1 :]):
            return False
    whole = [word for word in clause.low if is_word(word)]
    share, known = view.share(whole), view.has_name(clause)
    referred = bool(lead) and (
        lead[0] in REFERRING or lead[0].split("'")[0] in REFERRING or "answer" in lead
    )
    if view.sort == "value":
        if lead[0] in ("a", "an") and not any(
            view.knows(word) for word in lead if word not in FUNCTION
        ):
            return False  # "A cello has @ strings"
        subject = next((word for word in lead if word not in FUNCTION | STARTING | BELONGING), "")
        leads = all(word in FUNCTION for word in lead)
        if leads and clause.low[i + 1 :] and not (share or referred or subject):
            rest = [word for word in clause.low[i + 1 :] if is_word(word)]
            if view.strangers(clause) or (view.content and len(rest) > 2 and not known):
                return (
                    REFERRING.intersection(rest[:1]) != frozenset()
                )  # "On @ the Tour has a rest day"
        if (
            subject == lead[0]
            and REFERRING.isdisjoint(lead)
            and not view.knows(subject)
            and not acts(subject)
            and not known
        ):
            return False  # "Adults pay @"
        definite = not (REFERRING | {"our"}).isdisjoint(lead) and not view.strangers(clause)
        plain = is_full and (not subject or view.knows(subject) or definite)
        return share >= 0.5 or known or referred or plain
    if (
        view.asks_doer
        and not referred
        and COPULAS.isdisjoint(lead)
        and "by" not in lead
        and "answer" not in lead
        and not (lead[-1] == "from" and ORIGINS.intersection(lead))
        and lead[-2:] != ["went", "to"]
        and not (lead[-1] == "in" and view.asked.row[2] in _CONTAINING)
    ):
        return False
    if view.asks_doer and lead[-1] in ("in", "at", "on") and view.asked.row[2] in _WINNING:
        return False
    if (
        is_full
        and lead[-1:] == ["by"]
        and asks_person(view.asked)
        and not COPULAS.isdisjoint(lead[-2:])
    ):
        return True
    if is_full:
        plain = all(word in FUNCTION for word in lead) and not (VERBS | COPULAS).isdisjoint(lead)
        same = not deeds_in(lead).isdisjoint(deeds_in(view.asked.row))  # "The buyer was @"
        kind = not view.asked.kinds.isdisjoint(lead)
        return share > 0 or known or referred or plain or same or kind
    linked = bool(lead) and (lead[-1] in COPULAS | {"by"} or bool(COPULAS.intersection(lead[-4:])))
    return linked and (share > 0.5 or known)


def _is_told(view: View, clause: ClaimClause, words: Sequence[str]) -> bool:
    """Return True if a whole sentence in other words than the question's says something of the answer and of nobody else."""
    if view.is_choice or len(words) < 3 or not _ABROAD.isdisjoint(words):
        return False
    is_plain = view.asked.row[1:2] in (("is",), ("are",), ("was",), ("were",))
    if (
        (is_plain and not view.comparing and not deeds_in(view.asked.row))
        or words[0] in COPULAS
        or deeds_in({*words} - MAKING - {"makes"})
    ):
        return False  # "@ lies on a river", "@ is liquid below -196 °C", "@ was born in Bonn"
    if "by" in words and view.strangers(clause):
        return False  # "@ played a piece by Corelli"
    if view.strangers(clause, None, stop=True) or not _HINTING.isdisjoint(clause.low):
        return False
    if not REFERRING.isdisjoint(words) and view.asked.row[1:2] in (("is",), ("are",)):
        return False  # "@ won it in 1813"
    deeds = [word for word in words if acts(word) or word in VERBISH or word in _TELLING]
    begins = (
        clause.pieces.index(ANSWER) < 3 and len(words) > 3 and words[0] not in FUNCTION | ADJOINING
    )
    return bool(deeds) or begins
