"""Tells if a clause gives another candidate, or says behind the answer that it does not hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.claim_clauses import AGAINST
from verigym.verifiers.qa.claim_view import OTHER, ClaimClause, View
from verigym.verifiers.qa.claim_words import (
    ADJOINING,
    CONJOINING,
    COPULAS,
    DENIALS,
    DIRECTIONS,
    GENERIC,
    GOES_ON,
    NAMING,
    PERSONS,
    RANKING,
    REFERRING,
    RELATIVES,
    SCORE,
    STARTING,
    THINKING,
    TURNS,
    UNDOING,
    VERBISH,
)
from verigym.verifiers.qa.deeds import deeds_in, tells_another_deed
from verigym.verifiers.qa.persons import PARTICLES
from verigym.verifiers.qa.places import (
    asks_person,
    asks_place,
    is_at_odds,
    is_beside,
    is_large,
)
from verigym.verifiers.qa.sentence_words import (
    ANSWER,
    ARTICLES,
    DESCRIBING,
    FUNCTION,
    GIVEN,
    acts,
    is_word,
)

OUTDOING = frozenset(
    """
    preceded precedes predates predated exceeds exceeded surpasses surpassed outlived outweighs outranks outsizes tops dwarfs
    beats overtook overtakes
    """.split()  # noqa: SIM905
)
LESSER = frozenset(
    """
    last later latest second younger newer smaller less least fewer lower shorter lighter smallest lowest shortest
    """.split()  # noqa: SIM905
)
_BEATEN = frozenset(
    ["than", "over", "against", "beat", "beating", "beats", "defeated", "defeating", "before", "to"]
)


def offers_rival(view: View, clause: ClaimClause, stated: bool) -> bool:
    """Return True if a clause has another candidate of the question, and does not compare the answer with it."""
    low = clause.low
    at = next((k for k, word in enumerate(low) if word in view.rivals), -1)
    if at < 0 or clause.is_lead or clause.mark in AGAINST or view.denies(clause):
        return False
    behind = [word for word in low[:at] if word not in ARTICLES]
    if behind[-1:] and behind[-1] in (
        "before",
        "than",
        "over",
        "preceding",
        "predating",
        "beating",
    ):
        return False  # "five days before Pennsylvania"
    if ANSWER in low[:at] and OUTDOING.intersection(low[:at]):
        return not view.comparing.isdisjoint(LESSER)
    if ANSWER in low[:at]:
        return _BEATEN.isdisjoint(low[low.index(ANSWER) : at])
    if ANSWER in low or not stated:
        return not (ANSWER in low and view.has_two(low[: low.index(ANSWER)]))
    told = any(word.isdigit() for word in low) or (view.is_full(clause) and len(clause.words) > 3)
    return not told or not view.comparing.isdisjoint(low) or bool(set(low[:1]) & REFERRING)


_POINTING = frozenset(
    """
    one it this that he she they answer it's that's he's she's
    """.split()  # noqa: SIM905
)
_NAMED = frozenset([("the", "answer"), ("its", "name"), ("the", "name")])
_LINKING = frozenset(["actually", "really", "also", "just", "called", "named", "known", "as"])
_DESCRIPTIVE = tuple("ed ing ly er ous ful ic al est able ible ive less y ent ant".split())  # noqa: SIM905


def is_undoing(view: View, clause: ClaimClause, is_next: bool) -> bool:
    """Return True if a clause behind the answer says that it holds no more, is another thing, or goes on as a list."""
    words, text = clause.words, clause.text()
    if GOES_ON.search(text) or SCORE.match(text):
        return True

    if not is_next or not words:
        return False
    if (
        view.sort == "value"
        and clause.mark == "and"
        and {"half", "quarter", "third", "quarters", "thirds"}.intersection(words)
    ):
        return True
    if (
        "or" in words[:3]
        and words[0] not in DENIALS
        and not view.is_full(clause)
        and words[0] not in ADJOINING
    ):
        return True
    if words[0] == "by" and view.strangers(clause) and asks_person(view.asked):
        return True  # "by @, by Bram Stoker"
    if words[0] in ("until", "till") or (
        UNDOING.intersection(words) and (len(words) < 4 or view.share(words) > 0)
    ):
        return True
    if words[0] == "whose" and view.share(words) > 0.5:
        return True
    if _is_person_for_place(view, clause):
        return True
    if (
        any(word in RELATIVES - DIRECTIONS and not view.knows(word) for word in words)
        and words[0] in ARTICLES | {"his", "her"}
        and "of" in words
    ):
        return not view.strangers(clause) and view.sort == "name"
    return is_other_name(view, clause) or is_elsewhere(view, clause.low)


def is_other_name(view: View, clause: ClaimClause) -> bool:
    """Return True for "known as Lyon", "formerly London", "which is London", "with London"."""
    words = [p for p in clause.pieces if is_word(p)]
    if view.sort == "value":
        return False
    k = 0
    while k < len(words) and words[k].lower() in NAMING:
        k += 1
    if not 0 < k < len(words):
        return False
    rest = words[k:]
    return (
        rest[0][:1].isupper()
        and rest[0].lower() not in GENERIC
        and (
            all(p[:1].isupper() for p in rest)
            or words[k - 1].lower() in ("is", "called", "named", "as")
        )
    )


def is_elsewhere(view: View, low: Sequence[str]) -> bool:
    """Return True if a clause puts the answer into another country than the question names: "in Texas"."""
    for k, word in enumerate(low):
        behind = [w for w in low[k + 1 : k + 3] if w not in ARTICLES]
        if word in ("in", "on") and view.rivals.intersection(behind[:1]):
            return True
    if not asks_place(view.asked):
        return False
    for k, word in enumerate(low):
        if word in ("in", "of") and low[k + 1 : k + 2]:
            rest = low[k + 1 :]
            has_the = rest[0] == "the"
            rest = rest[1:] if has_the else rest
            for n in (2, 1):
                if is_at_odds(" ".join(rest[:n]), view.asked, view.answer):
                    return True
    return False


def _is_person_for_place(view: View, clause: ClaimClause) -> bool:
    if not asks_place(view.asked) or asks_person(view.asked) or "which" in clause.words:
        return False
    words = clause.words
    if words[0] in ("who", "whom", "whose"):
        return True
    ends = next((k for k, w in enumerate(words) if w in ADJOINING), len(words))
    return words[0] in ARTICLES and ends > 0 and words[ends - 1] in PERSONS


def is_rival(
    view: View, clause: ClaimClause, is_core: bool, stated: bool, before: Sequence[ClaimClause]
) -> bool:
    """Return True if a clause gives another candidate; `before` are the clauses of its sentence before it."""
    text = clause.text()
    words = clause.words
    others = view.strangers(clause)
    if view.sort == "value":
        if OTHER not in clause.pieces:
            return False
        said = [w for w in words if w not in FUNCTION]
        is_next = (
            not before or any(mark in before[-1].pieces for mark in (ANSWER, OTHER)) or is_core
        )
        if _is_copular(view, clause) or (stated and _does_instead(view, clause, before)):
            return True
        if not said and (is_next or clause.mark == "so"):
            return not clause.is_lead
        if (
            stated
            and clause.mark in ("and", "&", "plus")
            and not view.is_full(clause)
            and clause.low[0] == OTHER
        ):
            return True
        if clause.is_lead:
            return False
        if THINKING.search(text):
            return False
        opens = stated and words[:1] and words[0] in ADJOINING and clause.mark in (",", "(")
        return (
            not opens
            and not view.is_swapped(clause.low)
            and view.share(words) > (0.6 if stated else 0.4)
            and (not stated or _subject_matches(view, clause))
        )
    if THINKING.search(text):
        return False
    if clause.is_lead:
        return (
            clause.words[:1] != []
            and bool(others)
            and clause.mark in CONJOINING
            and view.says_all(clause)
        )
    if _is_listed(view, clause, stated, before) or (
        not stated and is_core and _is_other_noun(view, clause)
    ):
        return True
    if is_core and len(clause.words) == len(clause.pieces) and _is_lone_noun(view, clause):
        return True
    if view.sort == "noun":
        return _is_rival_noun(view, clause, is_core, stated, before)
    copular = _is_copular(view, clause)
    caps = [
        p
        for p in clause.pieces
        if is_word(p)
        and p.lower() not in ARTICLES | PARTICLES | {"and", "or", "then", "next", "&", "of"}
    ]
    bare = any(p[:1].isupper() for p in caps) and all(p[:1].isupper() or p.isdigit() for p in caps)
    if not others:
        return copular or (
            bare
            and stated
            and clause.mark in ("and", "&", "or")
            and any(not view.knows(p.lower()) for p in caps)
        )
    if bare:
        last = before[-1] if before else clause
        if (
            stated
            and clause.mark == ","
            and ANSWER not in last.pieces
            and (
                view.is_full(last)
                or len(last.words) > 3
                or (last.words[:1] and last.words[0] in ADJOINING and not asks_place(view.asked))
            )
        ):
            return False
        if stated and clause.mark in ("and", "&") and before and ANSWER not in before[-1].pieces:
            return False
        return _is_rival_bare(view, clause, stated)
    if copular:
        return True
    if clause.mark in ("and", "&", "plus") and not view.is_full(clause):
        named = next(p for p in clause.pieces if p.lower() not in ARTICLES)[:1].isupper()
        owned = words[0] in ("his", "her", "its", "their")
        return stated and ANSWER in before[-1].pieces and (named or owned) and "by" not in words[1:]
    opens = words[0] in ADJOINING and clause.mark not in CONJOINING | {"and", ";"}
    if opens and stated:
        return False
    ranked = RANKING.search(text)
    if ranked and not view.asks(ranked[0]):
        return False
    if stated and clause.mark == "," and words[0].endswith("ed"):
        return False  # "@, located in the Australian Capital Territory"
    if tells_another_deed(clause.low, view.asked):
        return False
    if words[-1] in ("did", "does", "do") or (
        words[-1] in ("is", "was") and view.share(words) == 0 and len(words) < 5
    ):
        return True
    if view.is_swapped(clause.low) or view.is_other_number(clause):
        return False
    if stated and words[0] in REFERRING and not (asks_person(view.asked) and "by" in words):
        return False
    if (
        view.is_choice
        and view.comparing
        and view.comparing.isdisjoint(words)
        and not view.exceeds(words)
    ):
        return False
    if view.says_all(clause) or view.exceeds(words):
        return True
    share = view.share(words)
    related = (
        not RELATIVES.isdisjoint(words)
        and "of" in words
        and not any(map(view.knows, RELATIVES & set(words)))
    )
    if related and not stated:
        return False  # "Hawthorne was a friend of the author"
    if not view.content:
        return view.is_full(clause) and view.has_name(clause)
    if stated:
        return share > 0.5
    return (
        share >= 0.5
        or (is_core and view.has_name(clause) and share > 0)
        or (is_core and not REFERRING.isdisjoint(words[-1:]))
    )


def _is_listed(
    view: View, clause: ClaimClause, stated: bool, before: Sequence[ClaimClause]
) -> bool:
    """Return True if a clause is a further member of a list that the answer begins: "@, helium", "@ and N wrote"."""
    if not stated or not before or clause.mark not in (",", "and", "&", "/", ";", "("):
        return False
    last = before[-1]
    words = [w for w in clause.words if w not in ARTICLES]
    if ANSWER not in last.pieces or not words:
        return False
    ends = last.pieces[-1] == ANSWER
    strange = (
        words[0] not in FUNCTION
        and not view.knows(words[0])
        and not words[0].endswith(("ed", "ing", "ly"))
    )
    named = next(p for p in clause.pieces if p.lower() not in ARTICLES)[:1].isupper()
    if clause.mark in ("and", "&") and ends:
        if words[0] in ("his", "her", "their") and view.share(words) > 0:
            return True
        if view.is_full(last):
            return (
                strange
                and view.sort != "value"
                and not named
                and view.share(words) > 0
                and not acts(words[0])
            )
        return (
            (strange or named)
            and (len(words) < 5 or view.share(words) > 0.5)
            and not acts(words[0])
            and words[0] not in VERBISH
        )
    if named or view.is_full(clause) or words[0] in ADJOINING:
        return False
    if view.sort == "value":
        return False
    describes = words[-1].endswith(("ed", "ing", "ly")) or any(
        c.isdigit() for w in words for c in w
    )
    members = [w for w in words if w not in ("and", "or", "&")]
    if clause.low[0] in ARTICLES:
        return (
            clause.low[0] == "the" and len(words) == 1 and ends and _is_strange_noun(view, words[0])
        )
    return len(members) < 3 and strange and not describes and ends


def _is_other_noun(view: View, clause: ClaimClause) -> bool:
    """Return True for "the element with the number 1 is helium": a common noun as the answer."""
    low = clause.low
    k = max((k for k, word in enumerate(low) if word in COPULAS), default=-1)
    rest = [w for w in low[k + 1 :] if is_word(w) and w not in ARTICLES]
    if k < 1 or not 0 < len(rest) < 4 or view.share(low[:k]) <= 0.5:
        return False
    return all(
        w not in FUNCTION
        and not view.knows(w)
        and w not in ADJOINING
        and not w.endswith(("ed", "ing", "ly"))
        for w in rest
    )


def _does_instead(view: View, clause: ClaimClause, before: Sequence[ClaimClause]) -> bool:
    """Return True if the deed that is asked for is said of another value, as in "he set sail in @ but arrived in 1493"."""
    asked = deeds_in(view.asked.row)
    stated = [one for one in before if ANSWER in one.pieces]
    return (
        bool(stated)
        and not asked.isdisjoint(deeds_in(clause.low))
        and all(asked.isdisjoint(deeds_in(one.low)) for one in stated)
        and not any(view.share(one.low) > view.share(clause.low) for one in stated)
    )


def _subject_matches(view: View, clause: ClaimClause) -> bool:
    return view.has_name(clause) or not view.names or view.knows(clause.low[0])


def _is_copular(view: View, clause: ClaimClause) -> bool:
    """Return True for "it is Lyon", "that is called lyon", "the Lyon is it": another candidate with a pronoun and "is"."""
    low, pieces = list(clause.low), list(clause.pieces)
    if low[-2:] in (["is", "it"], ["it", "is"]) and len(low) < 7:
        return ANSWER not in low
    while low and low[0] in ("now", "really", "actually", "today", "instead", "then"):
        low, pieces = low[1:], pieces[1:]
    if not low or not (low[0] in _POINTING or tuple(low[:2]) in _NAMED):
        return False
    k = next((k for k, word in enumerate(low[:5]) if word in COPULAS), -1)
    rest = [piece for piece in pieces[k + 1 :] if is_word(piece) or piece in (OTHER, GIVEN)]
    if k < 0 or not rest:
        return False
    if view.sort == "value":
        return OTHER in rest[:2]
    if rest[0] == "in" and len(rest) > 1 and asks_place(view.asked) and rest[1][:1].isupper():
        name = " ".join(rest[1:])
        fits = view.knows(rest[1].lower()) or is_beside(name, False, view.asked, view.answer)
        return not fits and len(rest) < 4
    is_called = False
    while rest and (rest[0].lower() in ARTICLES | _LINKING):
        is_called = is_called or rest[0] in ("called", "named")
        rest = rest[1:]
    if not rest:
        return False
    if rest[0][:1].isupper() and rest[0].lower() not in GENERIC and not view.knows(rest[0].lower()):
        behind = next((piece for piece in rest if not piece[:1].isupper()), "")
        return not behind or behind in ADJOINING or behind in FUNCTION
    if not rest[0].islower() or not _is_strange_noun(view, rest[0]) or low[k + 1] in ARTICLES:
        return False
    return is_called or len(rest) == 1 or rest[1] in ("in", "on", "at")


def _is_strange_noun(view: View, word: str) -> bool:
    """Return True if a word in small letters may be another candidate: it describes nothing, and the question has it not."""
    return (
        word not in DESCRIBING | FUNCTION | ADJOINING | STARTING
        and not view.knows(word)
        and not word.endswith(_DESCRIPTIVE)
    )


def _is_lone_noun(view: View, clause: ClaimClause) -> bool:
    """Return True for "oxygen" alone: a clause of one or two words in small letters that may be another candidate."""
    words = [word for word in clause.words if word not in ARTICLES]
    if not 0 < len(words) < 3 or view.is_full(clause) or clause.is_lead:
        return False
    return all(_is_strange_noun(view, word) and word not in TURNS for word in words) and not any(
        sign.isdigit() for word in words for sign in word
    )


def _is_rival_bare(view: View, clause: ClaimClause, stated: bool) -> bool:
    """Return True for ", London" and "(London)", but not for ", Spain" behind a city or "(JPY)"."""
    name = " ".join(p for p in clause.pieces if is_word(p) and p.lower() not in ARTICLES)
    has_the = clause.low[0] == "the"
    if stated and has_the and "of" in clause.low and clause.mark == ",":
        return False  # "the King of Pop"
    if stated and clause.mark == "(" and re.fullmatch(r"[A-Z]{1,5}\d{0,2}", name):
        return False
    if not stated or clause.mark not in (",", "("):
        return True
    fits = asks_place(view.asked) or is_large(name)
    return not (fits and is_beside(name, has_the, view.asked, view.answer))


def _is_rival_noun(
    view: View, clause: ClaimClause, is_core: bool, stated: bool, before: Sequence[ClaimClause]
) -> bool:
    """Return True if a clause may give another common noun as the answer, by its place."""
    words = clause.words
    if clause.mark == "(" and re.fullmatch(r"[A-Z][A-Za-z]?\d{0,2}|[A-Z]{1,5}", clause.text()):
        return False  # a symbol
    if _is_copular(view, clause):
        return True
    follows = bool(before) and ANSWER in before[-1].pieces
    if _is_lone_noun(view, clause) and (
        (is_core and len(words) == len(clause.pieces))
        or (follows and clause.mark in ("(", ";", ":", "-", "–", "—"))
    ):
        return True
    strange = any(word not in FUNCTION | ADJOINING and not view.knows(word) for word in words)
    if not stated:
        says = view.is_full(clause) or view.share(words) > 0.6
        return is_core and view.share(words) > 0.5 and says and strange
    if words and words[0] in ADJOINING and clause.mark not in CONJOINING | {"and", ";"}:
        rest = [word for word in words if word not in NAMING | ARTICLES]
        return follows and words[0] in NAMING and len(rest) == 1 and _is_strange_noun(view, rest[0])
    if RANKING.search(clause.text()) or not view.is_full(clause):
        return False
    if stated and clause.mark == "," and words[0].endswith(("ed", "ing", "wn", "ten", "lt")):
        return False  # "@ is the oldest tournament, played on grass"
    return view.share(words) > 0.6 and strange and not view.is_swapped(clause.low)
