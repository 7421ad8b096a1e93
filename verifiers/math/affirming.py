"""Reads statements as answers to a yes-no question: for "Is 7 prime?", "7 is prime" says yes, "it is composite" no.

A statement is read only where it holds the last words of the question, or an opposite of one of them, and
no others. Not covered: questions with a "not" or an "or", and statements that follow from others.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.trees import names

_POLAR = lazy_pattern(r"(?:^|[.!?:,]\s+|\n)\W*(?:is|are|was|were|does|do|did|can|will|has|have)\b([^.?!]{1,300}(?:\.\d[^.?!]{0,200})?)\?\W*$", re.IGNORECASE)  # fmt: skip
_TOLD = lazy_pattern(
    r"(?<=\?)\s*(?:please )?(?:answer|reply|respond|write|state|say|give|justify|explain)\b[^?]*$",
    needs="answer|explain|give|justify|reply|respond|say|state|write",
)
_CLAUSES = lazy_pattern(
    r"[,;:!]\s+|\.(?:\s+|$)|\b(?:because|since|as|so|but|and|hence|thus|therefore)\b"
)
_WORD = lazy_pattern(r"[a-z]+(?:'t)?|\d+(?:\.\d+)?|[^\s\w]")
_VERB = lazy_pattern(
    r"\b(?:is|are|was|were|does|do|did|can|will|has|have)\b|n't\b",
    needs="are|can|did|do|has|have|is|n't|was|were|will",
)
_EMPTY = frozenset(
    names(
        "a an the is are was were be it this that they number numbers integer integers indeed also does do did can will has have "
        "yes no true false itself fact in clearly really actually therefore thus so hence isn't aren't wasn't doesn't don't can't cannot not never"
    )
)
_NOT = lazy_pattern(r"\b(?:not|never|cannot)\b|n't\b", needs="n't|never|not")
_DOUBT = lazy_pattern(r"\b(?:if|unless|or|maybe|perhaps|possibly|probably|might|may|could|would|whether|suppose|assum\w+|sometimes|false|wrong|untrue)\b|\?")  # fmt: skip
_PAIRS = names(
    "prime/composite even/odd positive/negative rational/irrational converge/diverge convergent/divergent converges/diverges equal/unequal "
    "increasing/decreasing finite/infinite singular/invertible singular/nonsingular singular/regular greater/less larger/smaller "
    "bigger/smaller more/less more/fewer dependent/independent closed/open possible/impossible valid/invalid true/false "
    "linear/nonlinear concave/convex real/imaginary same/different parallel/perpendicular bounded/unbounded "
    "continuous/discontinuous consistent/inconsistent commutative/noncommutative solvable/unsolvable above/below "
    "before/after longer/shorter taller/shorter higher/lower older/younger faster/slower heavier/lighter left/right inside/outside acute/obtuse"
)
_OPPOSITES: dict[str, set[str]] = {}
for _pair in _PAIRS:
    _one, _other = _pair.split("/")
    _OPPOSITES.setdefault(_one, set()).add(_other)
    _OPPOSITES.setdefault(_other, set()).add(_one)
del _pair, _one, _other
_FORMULA = lazy_pattern(r"\$[^$]*\$|\[\[[^a-z]*?\]\]")
_PREDICATE = lazy_pattern(
    r"(?:no,? )?(?:it|this|that|they|the set|the set of [a-z]+) (?:is|are)(?P<not> not|n't)? (?P<adjective>[a-z]{4,15})",
    needs="it|that|the set|they|this",
)
_ASKS_ABLE = lazy_pattern(
    r"\bis (?:it|this|that) (?:always |ever )?possible\b|\bcan (?:it|this|that|you|we|one)\b",
    re.IGNORECASE,
)
_ABLE = lazy_pattern(
    r"(?:it|this|that)(?: is|'s)? (?P<not>not |im)?possible|(?:it|this|that|we|you|one) can(?P<not2>not|'t| not)? (?:be done|do it|do this|do so)",
    needs=" can|possible",
)
_UN = lazy_pattern(r"(?:non-?|un|in|im|ir|il|dis)(?=[a-z]{4})", needs="dis|il|im|in|ir|non|un")


def affirms(clause: str, question: str) -> bool | None:
    """Return the answer of a clause to a yes-no question: True for yes, False for no, None if it gives none."""
    if _DOUBT.search(clause):
        return None
    found = _answers(clause, asked_words(question))
    if found is None and _FORMULA.search(question):
        # "The series converges" where the question shows its formula as well.
        found = _answers(clause, asked_words(_FORMULA.sub(" ", question)))
    return found


def _answers(clause: str, asked: list[str]) -> bool | None:
    said, denied = said_words(clause), is_denied(clause)
    if not said or len(said) > len(asked):
        return None
    end = asked[-len(said) :]
    differing = [(a, b) for a, b in zip(said, end, strict=True) if a != b]
    if not differing:
        return not denied
    if len(differing) == 1 and is_opposite(*differing[0]):
        return denied
    if (
        len(said) > 2
        and len(said[0]) == 1
        and said[0] in asked
        and said[1:] == asked[1 - len(said) :]
    ):
        return not denied  # "f is differentiable at 1", where the question says which f
    return None


def said_words(clause: str) -> list[str]:
    """The words of a clause that say something, without endings."""
    return [_stem(word) for word in _WORD.findall(_plain(clause)) if word not in _EMPTY]


def is_denied(clause: str) -> bool:
    """Return True if a clause has one "not", or three."""
    return len(_NOT.findall(clause)) % 2 == 1


def contradicts(verdict: str, answer: str, question: str) -> bool:
    """Return True if a clause of an answer that says yes or no states the other: "Yes, it is not prime"."""
    found = (
        affirms(clause.strip(), question) for clause in _CLAUSES.split(_plain(answer)) if clause
    )
    return (verdict == "no") in found


def states(answer: str, question: str) -> str | None:
    """The yes or no that an answer without either word says by a statement alone; None for any other."""
    shown = _plain(answer).strip(" .!")
    predicate = _PREDICATE.fullmatch(shown)
    if predicate is not None and re.search(
        rf"^\W*(?:is|are)\b[^?]*\b{predicate['adjective']} (?:under|to|by|in|on|with|over|at|for|from)\b",
        question.lower(),
    ):
        return "no" if predicate["not"] else "yes"
    able = _ABLE.fullmatch(shown)
    if able is not None and _ASKS_ABLE.search(question):
        return "no" if able["not"] or able["not2"] else "yes"
    if re.fullmatch(r"(?:not )?[a-z-]{3,20}", shown) and shown not in _EMPTY:
        shown = f"it is {shown}"  # "composite", "not prime"
    if len(shown) > 200 or not _VERB.search(shown):
        return None
    said = affirms(shown, question)
    return None if said is None else ("yes" if said else "no")


def asked_words(question: str) -> list[str]:
    """The words of a yes-no question that say something, without endings; none for another question."""
    shown = _plain(question[-1000:]).replace("...", "").replace("…", "").strip()
    match = _POLAR.search(_TOLD.sub("", shown))
    if match is None or _NOT.search(match[1]) or re.search(r"\bor\b", match[1]):
        return []
    return [_stem(word) for word in _WORD.findall(match[1]) if word not in _EMPTY]


def _plain(text: str) -> str:
    text = re.sub(r"\\[()\[\],;:! ]|[${}*\"`]", " ", text.lower().replace("’", "'"))
    return re.sub(r"\s+", " ", text.replace("'s ", " is ")).strip()


def _stem(word: str) -> str:
    if word.startswith(("converg", "diverg")):
        return word[: word.index("g") + 1] + "e"  # "convergent" and "converges" say the same
    if word in ("increase", "increases", "decrease", "decreases"):
        return f"{word.removesuffix('s').removesuffix('e')}ing"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def is_opposite(a: str, b: str) -> bool:
    """Return True if two words are opposites: "prime" and "composite", "equal" and "unequal"."""
    if b in _OPPOSITES.get(a, ()):
        return True
    return any(_UN.match(x) and _UN.sub("", x, count=1) == y for x, y in ((a, b), (b, a)))
