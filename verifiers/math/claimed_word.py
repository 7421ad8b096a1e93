"""Reads a choice or a verdict from a last sentence: "Clara wins the race" for who wins, "91 isn't a prime" for no.

A choice is one of the names, or of the two things joined by "or", in the question; it counts where it is the subject
of what the question asks. A verdict is a clause that repeats the last word of a yes-no question, or its opposite.

Not covered: choices among more than two formulas, and verdicts that follow from the sentence without these words.
"""

from __future__ import annotations

import re
from itertools import pairwise

from verigym.verifiers.math.affirming import asked_words, is_denied, is_opposite, said_words
from verigym.verifiers.math.claimed_value import HEDGES
from verigym.verifiers.math.claiming_sentences import claiming_sentence
from verigym.verifiers.math.clauses import clauses_of
from verigym.verifiers.math.other_quantity import opposes
from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.people import people_of
from verigym.verifiers.math.question_focus import focus_of, roots
from verigym.verifiers.math.things import is_chosen, things_of

_PAIR = lazy_pattern(r"\b(?:which|what|who)\b[^?]*?[,:;] (?:is it )?(?P<one>[^,?]{1,40}?),? or (?P<other>[^,?]{1,40})\?", re.IGNORECASE, needs=" or ")  # fmt: skip
_CHOOSES = lazy_pattern(r"\b(?:who|whom|whose|which)\b", re.IGNORECASE, needs="wh")
_LEADS = lazy_pattern(
    r"^\W*(?:(?:(?i:so|thus|hence|therefore|then|and|but|the|that)|means?|it|is|winner|answer|must|be|has|to|was)\b[, ]*)*"
)
_DENIES = lazy_pattern(
    r"\b(?:not|never|neither|nor|cannot|or|both)\b|n't\b",
    re.IGNORECASE,
    needs="both|n't|neither|never|not|or",
)
_NO = lazy_pattern(r"\b(?:has|have|is|are|there|with|exists?|admits|had) no\b", needs=" no")
_PLACES = frozenset(("at", "on", "in", "for", "over", "to", "by", "with"))
_WORKED = lazy_pattern(r" ?= ?[^a-zA-Z]{1,60}(?=(?:is|are|has)\b)", needs="=")
_ARTICLE = lazy_pattern(r"^(?:[Tt]he|[Aa]n?) ", needs="he|a|A")
_BY_TEST = lazy_pattern(
    r"^(?:so )?(?:by|using|from|via|with) [^,]{1,50}?\b(?:tests?|criterion|theorem|rule)\b,? (?=the |it |[A-Z])",
    re.IGNORECASE,
    needs="test|criterion|theorem|rule",
)
_BRACKETS = lazy_pattern(r"\s*\([^()]*\)", needs="(")
_TENDS = lazy_pattern(r"\b((?:con|di)verges?) to [^,;]{1,30}$", needs="verge")
_NO_SUCH = lazy_pattern(r"\bno such (?P<thing>[a-z]+) (?:exists?|is possible)\b", needs="no such ")
_ASKS_IF_ANY = lazy_pattern(
    r"\b(?:is it possible|(?:is|are|does|do) there|exists?)\b", re.IGNORECASE
)
_SHORT = lazy_pattern(
    r"(?i)(?:(?:and )?(?:so|hence|thus|therefore),? )?(?:it|they|this|he|she|one|we|you) (?P<verb>can|does|do|is|are|will|has)(?P<not>not| not|n't|'t)?(?: indeed)?"
)
_FIRST = frozenset(("first", "win", "fastest"))


def claimed_word(reply: str, question: str) -> str:
    """The choice, "yes" or "no" that the last sentence of a reply claims; empty if it claims none."""
    sentence = claiming_sentence(reply, with_value=False).replace("**", "").replace("$", "")
    if not sentence or HEDGES.search(sentence):
        return ""
    clauses = [clause.text for clause in clauses_of(sentence) if clause.weight > -1]
    return _choice(clauses, question) or _verdict(clauses, question)


def _choice(clauses: list[str], question: str) -> str:
    focus = focus_of(question)
    if not is_in(_CHOOSES, focus.clause):
        return ""
    pair = _PAIR.search(question.replace("$", ""))
    things = () if pair else things_of(question)
    options = [_BRACKETS.sub("", pair[k]).strip() for k in ("one", "other")] if pair else []
    options = options or [
        name for name in sorted(people_of(question)[0]) if not _is_of(name, things)
    ]
    wanted = focus.words | (_FIRST if "win" in focus.words else frozenset())
    chosen: set[str] = set()
    for clause in clauses:
        if _DENIES.search(clause) or opposes(clause, focus.clause):
            continue
        lead = _LEADS.match(clause)
        body = clause[lead.end() :] if lead is not None else clause
        chosen |= {
            thing for thing in things if is_chosen(thing, _ARTICLE.sub("", body), focus, things)
        }
        for option in options:
            if (
                not body.lower().startswith(option.lower())
                or body[len(option) : len(option) + 1].isalnum()
            ):
                continue
            said = roots(body[len(option) :]) | roots(clause[: len(clause) - len(body)])
            if said & wanted or "win" in said:
                chosen.add(option)
    return chosen.pop() if len(chosen) == 1 else ""


def _verdict(clauses: list[str], question: str) -> str:
    asked = asked_words(question)
    if not asked:
        return ""
    found = set()
    for clause in clauses:
        if short := _short_verdict(clause, question):
            found.add(short)
            continue
        clause = _TENDS.sub(r"\1", _WORKED.sub(" ", _BY_TEST.sub("", clause)))
        said = [word for word in said_words(clause.strip(" ,;:.!")) if word != "there"]
        if not said:
            continue
        ends = {asked[-1], _before_place(asked)}
        same, opposed = (
            said[-1] in ends or _is_place(said, asked),
            any(is_opposite(said[-1], end) for end in ends),
        )
        if (same or opposed) and set(said[:-1]) <= set(asked):
            denied = is_denied(clause.lower()) != (_NO.search(clause) is not None)
            found.add("no" if denied == same else "yes")
    return found.pop() if len(found) == 1 else ""


def _short_verdict(clause: str, question: str) -> str:
    """The verdict of "so it cannot" and "no such triangle exists"; empty if a clause is neither."""
    none = _NO_SUCH.search(clause)
    if none is not None:
        asks = _ASKS_IF_ANY.search(question) is not None
        return "no" if asks or none["thing"].lower() in question.lower() else ""
    short = _SHORT.fullmatch(clause.strip(" ,;:.!"))
    begun = re.search(r"(?:^|[.:,]\s+)([A-Za-z]+)\b[^.:]*\?\s*$", question)
    if short is None or begun is None or begun[1].lower() != short["verb"].lower():
        return ""
    return "no" if short["not"] else "yes"


def _is_place(said: list[str], asked: list[str]) -> bool:
    """Return True for "the point is on the line" where a question asks if it is on the line of an equation."""
    return said[-2:-1] != [] and said[-2] in _PLACES and said[-2:] in map(list, pairwise(asked))


def _before_place(asked: list[str]) -> str:
    """The last word of a question before a place or number that it asks about: "continuous" of "continuous at 0"."""
    for k in range(1, len(asked)):
        if asked[k] in _PLACES and not any(len(word) > 2 for word in asked[k + 1 :]):
            return asked[k - 1] if asked[k - 1].isalpha() else asked[-1]
    return asked[-1]


def _is_of(name: str, things: tuple[str, ...]) -> bool:
    """Return True for "Plan", a word of the things "plan a" and "plan b"."""
    return any(name.lower() in thing.split() for thing in things)
