"""Reads amounts of several people: of "Ben has 12 and Maria has 24" the one whose amount the question asks for.

"Maria has 12" is no answer where Ben's amount is asked for.
"""

from __future__ import annotations

import re
from functools import lru_cache

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.trees import names

_KIN = frozenset(
    names(
        "son daughter father mother brother sister wife husband uncle aunt grandfather grandmother grandson granddaughter cousin niece nephew "
        "dad mom friend teacher boy girl child parent"
    )
)
_NO_NAMES = frozenset(
    names(
        "How What When Where Which Who Why If In On At The A An And Or But For Find Then There They He She It Each Every All After Before "
        "Express Give Compute Solve Determine Calculate Two Three Four Five Six Seven Eight Nine Ten One Together Suppose Let Is Are Was Were "
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September October November December "
        "Write Your His Her Their Of To From By With As So Its Now Today Assume Given Round Evaluate Simplify"
    )
)
_WORD = lazy_pattern(r"(?<![\\\w$])[A-Za-z][a-z]+(?![\w}$])")
_SENTENCE = lazy_pattern(r"(?<=[.!?])\s+")
_WHO = rf"(?i:(?:so|then|thus|therefore|and|while|the|his|her|their|that)[, ]+)*(?:[A-Z][a-z]+'s (?=(?:{'|'.join(sorted(_KIN))})\b))?(?P<who>[A-Za-z][a-z]+)(?:'s (?:age|share|score|amount|total|number)(?: is)?)?"
_HAS = r"(?:\s*[:=]\s*| (?:is|has|had|have|gets|got|gives|earns|earned|scored|scores|sold|sells|bought|buys|ate|owns|needs|will be|will have|paid|pays|ran|read|made|makes|saved|saves|collected|weighs|now has|is now|must be|must have) |(?<=[a-z]) (?=[$€£]?\d))(?:now |only |exactly |then )?"
_AMOUNT = r"(?P<amount>(?:\\?\$|€|£|\\dollar ?)?-?\d[\d.,]*(?<=\d)(?:/\d+)?|[a-z]+(?:-[a-z]+)?)(?P<noun>(?: [a-z%]+){0,3})"
_TOLD = lazy_pattern(rf"{_WHO}{_HAS}{_AMOUNT}")
_SPLIT = lazy_pattern(
    r"\s*(?:[;,](?: and| while| but)?|\band\b|\bwhile\b)\s+(?=(?:the |his |her |their )?[A-Za-z][a-z]+(?:'s [a-z]+)?(?:\s*[:=]| [a-z]+ | [$€£]?\d))",
    needs=",|;|and|while",
)
_ASIDE = lazy_pattern(
    r"\s*\((?:and |so |while |with |thus )*(?P<who>[A-Za-z][a-z]+)(?: [a-z]+){0,3}(?:\s*[:=]\s*| )\S{1,12}(?: [a-z]+){0,2}\)$",
    needs="(",
)


@lru_cache(maxsize=4096)
def people_of(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The people in a question, and those in the sentence that asks."""
    text = question[-3000:].strip()
    sentences = _SENTENCE.split(text)
    asking = next((one for one in reversed(sentences) if "?" in one), sentences[-1])
    everyone = frozenset(_people(text))
    return everyone, frozenset(_people(asking))


def _people(text: str) -> set[str]:
    return {
        word
        for word in (match[0] for match in _WORD.finditer(text))
        if (word[0].isupper() and word not in _NO_NAMES) or word.lower() in _KIN
    }


def amount_asked(answer: str, question: str) -> str | None:
    """The amount of the one person that a question asks about; None if the answer gives another one's.

    Text about nobody comes back as it is.
    """
    if not question or len(answer) > 200 or not _WORD.search(answer):
        return answer
    everyone, asked = people_of(question)
    if len(everyone) < 2 or len(asked) != 1:
        return answer
    wanted = next(iter(asked))
    aside = _ASIDE.search(answer)
    if aside and aside["who"] in everyone and aside["who"] != wanted:
        return answer[: aside.start()]
    parts = [part.strip(" .") for part in _SPLIT.split(answer.strip(" ."))]
    told = [_TOLD.fullmatch(part) for part in parts]
    if any(match is None or not _is_amount(match["amount"]) for match in told):
        return answer
    found = {
        match["who"]: f"{match['amount']}{match['noun']}" for match in told if match is not None
    }
    if wanted in found and len(found) == len(parts):
        return found[wanted]
    return None if set(found) <= everyone and wanted not in found else answer


def _is_amount(text: str) -> bool:
    return re.search(r"\d", text) is not None or number_of(text) is not None
