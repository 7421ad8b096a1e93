"""Tells from a question which letter it asks for, and from an answer that it gives another one's value, a rate where a
count is asked for, or what was lost where what is left is asked for."""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.patterns import is_in, lazy_pattern
from verigym.verifiers.math.units import unit_of

_NAME = r"(?P<name>[a-zA-Z](?:_\{?\w{1,3}\}?)?)"
_ASKS = lazy_pattern(
    rf"\b(?:solve(?: (?:the|this|following|equation|inequality|it|[^.?$]{{1,40}}))? for|find|what is|what's|determine|compute|calculate|value of|what must|what does)\s+"
    rf"(?:the (?:exact |numerical |possible )?values? of )?(?:\$|\\\()?{_NAME}(?:\$|\\\))?(?![\w(^'{{])(?!\s*(?:[-+*/^=(,<>]|and\b|\\))",
    re.IGNORECASE,
)
_ASSIGNED = lazy_pattern(rf"\$?{_NAME}\s*=\s*[^=<>,;]{{1,60}}")
_LISTED = lazy_pattern(rf"{_NAME}\s*=\s*(?P<value>[^=<>,;]{{1,40}})")
_CALLED = lazy_pattern(
    r"(?P<function>[a-zA-Z]'{0,2})\s*\(\s*(?P<place>-?\d{1,6})\s*\)\s*=\s*[^=,;]{1,40}", needs="("
)
_ASKS_CALL = lazy_pattern(
    r"\b(?:find|compute|evaluate|calculate|determine|what is|value of)\s+(?:the value of\s+)?\$?([a-zA-Z]'{0,2})\s*\(\s*(-?\d{1,6})\s*\)",
    re.IGNORECASE,
)
_SEPARATOR = lazy_pattern(r"\s*(?:[,;](?: and)?|\band\b)\s*")
_COUNTS = lazy_pattern(r"\bhow many ([^.?]*)", re.IGNORECASE, needs="how many ")
_RATE = lazy_pattern(
    r"\d[\d,]*(?: [a-z]+)? (?:per [a-z]+|each|apiece|(?:for|in) (?:each|every)(?: [a-z]+)?|a (?:day|week|month|year|hour|minute))\.?$",
    re.IGNORECASE,
    needs="a |ach|apiece|per |very",
)
_OF_ONE = lazy_pattern(
    r"\b(?:per|each|every|apiece|one|an?|single|rate|daily|weekly|hourly|average)\b", re.IGNORECASE
)
_DEEDS = tuple(
    frozenset(row.split())
    for row in (
        "lost lose loses",
        "gave give gives given",
        "sold sell sells",
        "ate eat eats eaten",
        "spent spend spends",
        "used use uses",
        "bought buy buys",
        "broke break breaks broken",
        "threw throw throws",
        "donated donate donates",
        "received receive receives",
        "added add adds",
        "removed remove removes",
        "drank drink drinks",
        "borrowed borrow borrows",
        "lent lend lends",
        "dropped drop drops",
        "started start starts",
        "began begin begins",
        "took take takes",
    )
)
_DID = lazy_pattern(
    r"(?:(?:so|then|thus|therefore)[, ]+)?(?:the |a |his |her )?[A-Za-z]+(?: originally| initially| already| then)? (?P<verb>[a-z]+)(?: with| away| out| up)? \$?\d[\d,.]*(?: [a-z]+){0,4}[.! ]*",
    re.IGNORECASE,
)
_REST = lazy_pattern(
    r"\b(?:have|has|had|left|remain\w*|now|keep|keeps|still|end up|there)\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def asked_letter(question: str) -> str:
    """The one letter whose value a question asks for; empty if it asks for several, or for none."""
    found = {
        match["name"].replace("{", "").replace("}", "")
        for match in _ASKS.finditer(question[-2000:])
    }
    found -= (
        {"a", "A", "I"}
        if re.search(r"\b(?:find|is|what's|determine) an? [a-z]", question, re.IGNORECASE)
        else set()
    )
    return found.pop() if len(found) == 1 else ""


def value_of_letter(answer: str, question: str) -> str | None:
    """`answer` without the values of other letters than the one asked for: of "a_2 = 5, a_5 = 122" the last, where
    a_5 is asked for; None if it gives another letter's value alone. Other text as it is."""
    if "=" not in answer or len(answer) > 300:
        return answer
    called = _CALLED.fullmatch(answer.strip(" .$"))
    if called is not None:
        places = {
            place
            for function, place in _ASKS_CALL.findall(question)
            if function == called["function"]
        }
        if len(places) == 1 and called["place"] not in places:
            return None
    name = asked_letter(question)
    if not name:
        return answer
    if (
        answer.count("=") == 1
        and not re.search(r"[,;<>]|[a-z]{3}", answer)
        and _solves_for(name, question)
    ):
        sides = [_bare(re.sub(r"\([a-z]\)|[\s$]", "", side)) for side in answer.split("=")]
        if sides[0] and name not in sides:
            return None
    alone = _ASSIGNED.fullmatch(answer.strip(" .$"))
    if alone is not None:
        shown = _bare(alone["name"])
        other = shown != name and shown.lower() != name.lower() and len(shown) == len(name) == 1
        term, _, place = shown.partition("_")
        other = other or (place.isdigit() and name.startswith(f"{term}_") and shown != name)
        formula = re.search(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", answer.partition("=")[2])
        return None if other and not formula else answer
    parts = [_LISTED.fullmatch(part) for part in _SEPARATOR.split(answer.strip(" .$"))]
    if len(parts) < 2 or not all(parts):
        return answer
    names = [_bare(part["name"]) for part in parts if part is not None]
    if len(set(names)) < len(names) or name not in names:
        return answer
    own = parts[names.index(name)]
    return answer if own is None else own["value"].strip()


def _solves_for(name: str, question: str) -> bool:
    return (
        re.search(rf"\bsolve\b[^.?]* for \$?{re.escape(name)}\b", question, re.IGNORECASE)
        is not None
    )


def _bare(name: str) -> str:
    return name.replace("{", "").replace("}", "")


_COUNTED = lazy_pattern(r"(?P<count>\d[\d,]*) (?P<noun>[a-z]{3,20})")
_ASKED_NOUN = lazy_pattern(
    r"\bhow many (?:more |of the )?(?P<noun>[a-z]{3,20})\b", re.IGNORECASE, needs="how many "
)


def count_of_asked(answer: str, question: str) -> str | None:
    """The count in "8 cows and 12 chickens" of the things that a question asks for; None for another one of two
    kinds that it names side by side. Other text as it is."""
    if not answer[:1].isdigit() and not answer.lower().startswith(
        ("there ", "he ", "she ", "they ")
    ):
        return answer
    asked = _ASKED_NOUN.findall(question)
    counts = _COUNTED.findall(answer)
    if not asked or not counts or len(answer) > 120:
        return answer
    if any(unit_of(word) is not None for _, word in counts):
        return answer  # 3 hours 36 minutes are one measure
    noun = _singular(asked[-1].lower())
    nouns = [_singular(word) for _, word in counts]
    if len(counts) > 1:
        rest = re.sub(
            r"^there (?:are|were)|\band\b|[,.]", " ", _COUNTED.sub(" ", answer), flags=re.IGNORECASE
        )
        if rest.strip() or nouns.count(noun) != 1 or len(set(nouns)) < len(nouns):
            return answer
        return f"{counts[nouns.index(noun)][0]} {asked[-1].lower()}"
    other = nouns[0]
    beside = rf"\b(?:{re.escape(other)}s? and (?:\w+ )?{re.escape(noun)}|{re.escape(noun)}s? and (?:\w+ )?{re.escape(other)})"
    return None if other != noun and re.search(beside, question.lower()) else answer


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def is_rate(answer: str, question: str) -> bool:
    """Return True for "42 per box" where a question asks how many there are, and not in one."""
    if not is_in(_COUNTS, question) or not _RATE.search(answer.strip()):
        return False
    asked = _COUNTS.findall(question)
    return bool(asked) and not _OF_ONE.search(asked[-1])


def is_other_deed(answer: str, question: str) -> bool:
    """Return True for "Tom lost 42 pencils" where a question asks how many he has left."""
    did = _DID.fullmatch(answer.strip()) if is_in(_REST, question) else None
    if did is None:
        return False
    deed = next((forms for forms in _DEEDS if did["verb"].lower() in forms), None)
    if deed is None:
        return False
    sentences = re.split(r"(?<=[.!?])\s+", question.strip())
    asking = next((one for one in reversed(sentences) if "?" in one), sentences[-1])
    clause = (
        re.split(r"\b(?:if|when|after)\b", asking, maxsplit=1)[0]
        if re.match(r"(?i)how\b", asking)
        else asking
    )
    said = set(re.findall(r"[a-z]+", clause.lower()))
    return not said & deed and _REST.search(clause) is not None


_DERIVATIVE = lazy_pattern(
    r"(?:\\[dt]?frac ?\{ ?d ?(\w) ?\} ?\{ ?d ?(\w) ?\}|(?<![A-Za-z])d(\w)/d(\w)(?!\w))",
    needs="frac|/d",
)


def is_other_derivative(answer: str, question: str) -> bool:
    """Return True for "dx/dy = 2" where dy/dx is asked for."""
    named = _DERIVATIVE.match(answer) if is_in(_DERIVATIVE, question) else None
    if named is None or "=" not in answer[named.end() : named.end() + 3]:
        return False
    asked = {"".join(filter(None, found)) for found in _DERIVATIVE.findall(question)}
    return bool(asked) and "".join(filter(None, named.groups())) not in asked
