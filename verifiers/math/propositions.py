"""Compares statements of logic: "If n^2 is odd, then n is odd" and "If n^2 is not even, then n is not even";
"There is a swan that isn't white" and "Some swan is not white".

Read are implications and sentences about all, some or no things, for questions that ask for a negation, converse,
inverse or contrapositive. Words keep their order; only a "not" is weighed against an opposite: odd, irrational, ≤.

Not covered: "and" or "or" under a "not", several quantifiers, and "all ... are not", which may mean two things.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.conclusions import last_sentence
from verigym.verifiers.math.patterns import is_in, lazy_pattern

_MOST_CHARS = 300
_ASKS = lazy_pattern(
    r"\b(?:contrapositive|negation|negate|converse|inverse of (?:the )?(?:statement|implication|conditional|following|[\"'“‘]))",
    re.IGNORECASE,
    needs="contrapositive|negation|negate|converse|inverse of ",
)
_CALLED = lazy_pattern(
    r"^(?:(?:so|thus|hence|therefore),? )?(?:(?:the|its|a) )?(?:contrapositive|negation|converse|inverse|answer|statement)(?: of [^:]{1,80}?)?(?: is|:)(?: that\b| the statement\b)?[: ]+",
    needs="contrapositive|negation|converse|inverse|answer|statement",
)
_NOT = lazy_pattern(r"\b(is|are|does|do|has|have|was|were|did)n't\b", needs="n't")
_DOUBT = lazy_pattern(
    r"\b(?:maybe|perhaps|possibly|might|may|could|either|unless|whether|only|both|iff|neither|nor|probably|think|guess|but)\b|\?",
)
_IF = lazy_pattern(
    r"(?:if|whenever) (?P<given>.+?)(?:,? then,? |, )(?P<follows>.+)"
    r"|(?P<premise>.+?),? (?:implies(?: that)?|\\implies|\\rightarrow|\\to) (?P<end>.+)",
    needs="if|whenever|implies|\\",
)
_VERB = r"(?P<rest>(?:is|are|has|have|does not|do not|cannot|can not|can|was|were)\b.*)"
_THING = r"(?P<thing>(?!of |the )[a-z-]+(?: (?!that |which |who |is |are |has |have |does |do |can )[a-z-]+){0,3}?)"
_THAT = r"(?:,? (?:that|which|who|such that it|such that they))?"
_SOME = lazy_pattern(
    rf"(?:some|at least one|one or more|there (?:is|are|exists?) (?:at least one|some|an?|one)) {_THING}{_THAT} {_VERB}",
    needs="some|one|there ",
)
_NO = lazy_pattern(
    rf"(?:no|there (?:is|are|exists?) no) {_THING}{_THAT} {_VERB}", needs="no|there "
)
_ALL = lazy_pattern(
    rf"(?P<not>(?:it is )?not (?:true that |the case that )?)?(?:all|every|each|any) {_THING} {_VERB}",
    needs="all|every|each|any",
)
_AND_OR = lazy_pattern(r"\b(?:and|or)\b", needs="and|or")
_OF_KIND = lazy_pattern(
    r"(?:there (?:is|are|exists?) )(?:(?P<no>no)|at least one|some|an?|one) (?P<kind>[a-z]+) (?P<thing>[a-z]+)(?: exists?)?",
    needs="there ",
)
_NO_OR_NOT = lazy_pattern(r"\b(?:no|not|none|never)\b|n't\b", re.IGNORECASE, needs="no|n't|never")
_EVERY = lazy_pattern(r"\b(?:all|every|each)\b|\\forall", re.IGNORECASE, needs="all|every|each")
_ANY_ONE = lazy_pattern(
    r"\b(?:some|there (?:is|are|exists?)|at least one)\b|^an? .{1,40}\b(?:with|such that|for which)\b|\\exists",
    re.IGNORECASE,
)
_HAS_NO = lazy_pattern(r"\b(?:has|have) no\b", needs="has|have")
_RELATION = lazy_pattern(r"(?P<left>.+?) ?(?P<sign><=|>=|!=|<|>|=) ?(?P<right>.+)", needs="<|>|=")
_SAID = tuple(
    (lazy_pattern(rf"\b{words}", needs=need), sign)
    for words, need, sign in (
        (r"is (not )?(?:greater|larger|more|bigger) than or equal to", " than or", r"\1>="),
        (r"is (not )?(?:less|smaller) than or equal to", " than or", r"\1<="),
        (r"is (not )?(?:greater|larger|more|bigger) than", " than", r"\1>"),
        (r"is (not )?(?:less|smaller) than", " than", r"\1<"),
        (r"is (not )?at least", "at least", r"\1>="),
        (r"is (not )?at most", "at most", r"\1<="),
        (r"(?:is (not )?equal to|equals|does (not) equal)", "equal", r"\1\2="),
    )
)
_NEGATED_SIGN = {">=": "<", "<=": ">", "!=": "="}
_OPPOSITE = {"odd": "even", "irrational": "rational", "nonzero": "zero", "unequal": "equal", "false": "true"}  # fmt: skip
_ARTICLES = frozenset(("a", "an", "the", "any", "does", "do", "then", "also", "that"))
_SUBJECT = lazy_pattern(r"(?P<subject>.+?) (?:(?:is|has|not|does)\b|[<>=!])")
_PRONOUN = lazy_pattern(r"^(?:they|this|that|the|this [a-z]+|that [a-z]+) (?=is|has|not|does)")


class _Clause(Struct, frozen=True):
    """The words of a clause without its "not", and whether it has one."""

    words: tuple[str, ...]
    is_denied: bool


class _Proposition(Struct, frozen=True):
    """`how` is "if", "some", "no" or "all"; `about` is the premise, or the words for the things spoken of."""

    how: str
    about: _Clause
    said: _Clause


def same_proposition(gold: str, reply: str, question: str) -> bool:
    """Return True if the last sentence of a reply says what the reference says, where a question asks for a
    statement of logic."""
    if not is_in(_ASKS, question):
        return False
    wanted = _proposition(gold)
    return wanted is not None and wanted == _proposition(last_sentence(reply))


def states_another(gold: str, answer: str, question: str) -> bool:
    """Return True if an answer is another statement of logic than the reference: its converse, or with "and" for "or"."""
    if not is_in(_ASKS, question):
        return False
    joins = [sorted(_AND_OR.findall(text)) for text in (gold, answer)]
    if all(joins) and joins[0] != joins[1]:
        return True
    quantifiers = [_quantifier(text) for text in (gold, answer)]
    if all(quantifiers) and quantifiers[0] != quantifiers[1]:
        return True
    wanted, found = _proposition(gold), _proposition(answer)
    return wanted is not None and found is not None and wanted != found


def _quantifier(text: str) -> str:
    """ "all" or "some" for a text with one of these and no "no" or "not"; empty for others."""
    if _NO_OR_NOT.search(text):
        return ""
    every, some = _EVERY.search(text) is not None, _ANY_ONE.search(text) is not None
    return "" if every == some else "all" if every else "some"


@lru_cache(maxsize=4096)
def _proposition(text: str) -> _Proposition | None:
    """The statement that a text makes; None if it is not read."""
    if len(text) > _MOST_CHARS:
        return None
    plain = clean(text).lower().replace('"', "").replace("{2}", "2").strip(" '.*")
    plain = _CALLED.sub("", " ".join(_NOT.sub(r"\1 not", plain).split()).replace("can't", "cannot"))
    if _DOUBT.search(plain):
        return None
    implied = _IF.fullmatch(plain)
    if implied is not None:
        return _implication(
            implied["given"] or implied["premise"], implied["follows"] or implied["end"]
        )
    return _quantified(plain)


def _implication(given: str, follows: str) -> _Proposition | None:
    if " if " in f" {given} {follows} ":
        return None
    subject = _SUBJECT.match(_bare(given))
    follows = _bare(follows)
    if subject is not None and follows.startswith(f"{subject['subject']} "):
        follows = f"it {follows[subject.end('subject') + 1 :]}"
    premise, end = _clause(given), _clause(_PRONOUN.sub("it ", follows))
    return None if premise is None or end is None else _Proposition("if", premise, end)


def _quantified(text: str) -> _Proposition | None:
    for how, pattern in (("some", _SOME), ("no", _NO), ("all", _ALL)):
        match = pattern.fullmatch(text)
        if match is None:
            continue
        said = _clause(match["rest"])
        about = _clause(match["thing"])
        if said is None or about is None:
            return None
        if how == "all":
            if said.is_denied and not match["not"]:
                if " not " in match["rest"]:
                    return None  # "all are not" may mean "not all are"
                how, said = "no", _Clause(said.words, False)
            if match["not"]:
                how, said = "some", _Clause(said.words, not said.is_denied)
        elif how == "no" and said.is_denied:
            how, said = "all", _Clause(said.words, False)
        return _Proposition(how, about, said)
    kind = _OF_KIND.fullmatch(text)
    if kind is None:
        return None
    said, about = _clause(kind["kind"]), _clause(kind["thing"])
    how = "no" if kind["no"] else "some"
    return None if said is None or about is None else _Proposition(how, about, said)


def _clause(text: str) -> _Clause | None:
    """A clause with its "not" taken out; None if that may change what it says."""
    for pattern, sign in _SAID:
        text = pattern.sub(sign, text)
    text = _HAS_NO.sub("not has", _bare(text))
    words = text.replace("cannot", "not can").split()
    denied = words.count("not")
    if denied > 1 or (denied and {"and", "or", "every", "all", "some"} & set(words)):
        return None
    is_denied = denied == 1
    words = [word for word in words if word not in ("not", "is")]
    relation = _RELATION.fullmatch(" ".join(words))
    if relation is not None:
        sign = relation["sign"]
        is_denied ^= sign in _NEGATED_SIGN
        words = [relation["left"], _NEGATED_SIGN.get(sign, sign), relation["right"]]
    elif words and words[-1] in _OPPOSITE:
        is_denied = not is_denied
        words[-1] = _OPPOSITE[words[-1]]
    return _Clause(tuple(words), is_denied) if words else None


def _bare(text: str) -> str:
    """The words of a clause in the singular, without articles."""
    found = (word.strip(",;") for word in text.split())
    return " ".join(_singular(word) for word in found if word and word not in _ARTICLES)


def _singular(word: str) -> str:
    known = {"are": "is", "have": "has", "were": "was", "people": "person", "men": "man"}
    if word in known:
        return known[word]
    if len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith(("ss", "us")):
        return word[:-1]
    return word
