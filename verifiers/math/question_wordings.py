"""Reads the value of an answer that takes up the words of its question: "day 8" for "on which day", "in five years" for
"in how many years", "5 minutes per kilometre" for "what time per kilometre", "u·v = -3" for a dot product.

Such words say what the value is of, so they are left off only where the question has them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.rivals import asked_names
from verigym.verifiers.math.spelled import number_of, ordinal_of
from verigym.verifiers.math.trees import names

_MOST_CHARS = 240
_NOT_SAID = lazy_pattern(
    r"\b(?:not|never|cannot|neither|nor|no|none|without|except|but|hardly|if|unless|maybe|perhaps|might|may|could|probably|possibly|or|"
    r"either|guess|suppose|assum\w+|wrong|false|until|before|almost|nearly|about|says?|said|claims?|thinks?)\b|n't\b|\?",
    re.IGNORECASE,
    needs="?|about|almost|assum|but|claim|could|either|except|false|guess|hardly|if|may|might|n't|nearly|never|no|or|perhaps|possibly|probably|said|say|suppose|think|unless|until|without|wrong",
)
_PER = lazy_pattern(
    r"(?P<value>.{1,60}?),? (?:per|an?|each|every|for (?:each|every|one)) (?P<noun>[a-z]{2,20})",
    needs="a|every|for |per",
)
_SPAN = lazy_pattern(
    r"(?:(?P<lead>.*)\s)?(?P<word>in|after|for|within) (?:exactly |only |just |another )?(?P<value>(?P<count>\d[\d.,/]*|[a-z]+(?:-[a-z]+)?) (?:more )?(?P<noun>[a-z]{3,20}))(?: from now| later|['’] time)?",
    re.IGNORECASE | re.DOTALL,
    needs="after|for|in",
)
_ASKS_WHICH = lazy_pattern(r"\b(?:which|what) (?P<noun>[a-z]{3,20})\b", re.IGNORECASE, needs="wh")
_PLACE_WORDS = r"(?:number |no\. ?|#)?(?P<number>\d{1,6}|[a-z]+(?:-[a-z]+)?)"
_DIVIDED = lazy_pattern(
    r"\bremainder (?:of |is )?(?P<value>\d{1,30}) (?:(?:on|upon|after|in|under) (?:the )?division|when (?:it is )?divided|on dividing)(?: \S+)? by (?P<by>\d{1,30})$",
    needs="remainder ",
)
_POWER = lazy_pattern(r"\d+ ?\^ ?\{?\w+\}?", needs="^")
_PRODUCT = lazy_pattern(
    r"(?P<one>[A-Za-z]) ?(?P<sign>·|⋅|∙|•|\.|×|\\cdot|\\times|\\bullet) ?(?P<other>[A-Za-z]) ?= ?(?P<value>\S.{0,120})",
    re.DOTALL,
    needs=".|\\bullet|\\cdot|\\times|·|×|•|∙|⋅",
)
_MARKED = lazy_pattern(
    r"\\(?:mathbf|vec|boldsymbol|bm|overrightarrow|mathrm) ?(?:\{ ?(\w) ?\}|(\w))",
    needs="bm|boldsymbol|mathbf|mathrm|overrightarrow|vec",
)
_NAMED_CHAIN = lazy_pattern(
    r"(?:so |then )?(?:the |its )?(?P<name>[A-Za-z]{4,20}(?: [a-z]{4,20})?) ?(?:=|is) ?(?P<value>[^=]+=.+)",
    re.IGNORECASE | re.DOTALL,
)
_DOT = lazy_pattern(r"\b(?:dot|scalar|inner) product\b", re.IGNORECASE)
_CROSS = lazy_pattern(r"\b(?:cross|vector) product\b", re.IGNORECASE, needs="cross|vector")
_SIGNED = lazy_pattern(
    r"(?:[^=]*\b(?:is|equals?|gets?|gives|makes|obtain|to) )?(?:minus|negative) (?P<value>[^+\-=<>,;]{1,60})",
    re.IGNORECASE,
    needs="minus|negative",
)


_TIMES = frozenset(
    names("second minute hour day night week month quarter year century round term row page step")
)
_NAMED_PLACE = lazy_pattern(
    r"(?:on |in |at )?(?:the )?(?P<noun>[a-z]{3,20}) \d{1,6}", re.IGNORECASE
)
_COUNTS = lazy_pattern(r"\bhow many ((?:[a-z-]+ ?){1,4})", re.IGNORECASE, needs="how many ")
_MONEY_NOUN = lazy_pattern(
    r"\b(?:dollars?|cents?|euros?|pounds?|pence|penn(?:y|ies)|yen|rupees?|pesos?|bucks?|francs?|coins?|money|thousands?|millions?)\b",
    re.IGNORECASE,
)
_MONEY = lazy_pattern(
    r"(?:[^\d=]{0,60}\b(?:costs?|is|are|was|were|be|to|for|spent|spends?|paid|pays?|of|equals?|makes?|earns?|earned|gets?)\b[^\d=]{0,12}?)?(?:(?:\\dollar|[€£]) ?\d[\d,]*(?:\.\d+)?|\d[\d,]*(?:\.\d+)? ?(?:dollars|euros|cents|€|£))(?: (?:in total|on [a-z]+|altogether))?",
    re.IGNORECASE | re.DOTALL,
    needs="\\dollar|cents|dollars|euros|£|€",
)
_GUESSED = lazy_pattern(
    r"(?:maybe|perhaps|possibly)\b", re.IGNORECASE, needs="maybe|perhaps|possibly"
)
_ASKS_AHEAD = lazy_pattern(r"\b(?:in|after) how (?:many|long)\b", re.IGNORECASE)


def is_unfitting(answer: str, question: str) -> bool:
    """Return True for "week 8" where a question asks on which day, for "five years ago" where it asks in how many, and
    for a value that is said to be a guess."""
    answer = answer.strip(" .!*")
    if _GUESSED.match(answer):
        return True
    if answer.endswith(" ago"):
        return _ASKS_AHEAD.search(question) is not None
    named = _NAMED_PLACE.fullmatch(answer)
    if named is None or named["noun"].lower() not in _TIMES:
        return False
    asked = {match["noun"].lower() for match in _ASKS_WHICH.finditer(question[-1000:])} & _TIMES
    return bool(asked) and named["noun"].lower() not in asked


def is_money_for_count(answer: str, question: str) -> bool:
    """Return True for "$165" and "the texts cost $165" where a question asks how many texts there are."""
    asked = list(_COUNTS.finditer(question[-1000:]))
    if not asked or not _MONEY.fullmatch(clean(answer).strip(" .!*")):
        return False
    return not any(_MONEY_NOUN.search(match[1]) for match in asked)


def values_as_asked(text: str, question: str) -> Iterator[str]:
    """The values that `text` may state in the words of a question, which these words are left off from."""
    text = text.strip(" .!*=")
    if not text or len(text) > _MOST_CHARS or not question:
        return
    signed = _SIGNED.fullmatch(text)
    if (
        signed is not None
        and not re.search(r"(?<![\\A-Za-z])[A-Za-z]{2}", signed["value"])
        and not _NOT_SAID.search(text)
    ):
        yield f"-{signed['value']}"
        return
    if "=" in text:
        if value := _product(text, question):
            yield value
        named = _NAMED_CHAIN.fullmatch(text)
        if named is not None and named["name"].lower() in asked_names(question):
            yield named["value"]
    if " " not in text or _NOT_SAID.search(text):
        return
    for reading in (_per_one, _span, _place, _remainder):
        if value := reading(text, question):
            yield value


def _per_one(text: str, question: str) -> str:
    """5 minutes of "5 minutes per kilometre" where the question asks what it is per kilometre."""
    match = _PER.fullmatch(text)
    if match is None or not re.search(r"\d", match["value"]):
        return ""
    asked = rf"\b(?:per|an?|each|every|one) {re.escape(match['noun'])}\b"
    return match["value"] if re.search(asked, question, re.IGNORECASE) else ""


def _span(text: str, question: str) -> str:
    """Five years of "in five years" where the question asks in how many years."""
    match = _SPAN.fullmatch(text)
    if match is None or not (match["count"][0].isdigit() or number_of(match["count"])):
        return ""
    if match["lead"] and re.search(rf"\b{match['noun']}\b", match["lead"], re.IGNORECASE):
        return ""
    word = match["word"].lower()
    words = "for" if word == "for" else "in|after|within"
    stem = re.escape(match["noun"].lower().removesuffix("s"))
    asked = rf"\b(?:{words}) how (?:long\b|many (?:more )?{stem})"
    if match["lead"] and stem in _TIMES and word in ("for", "in"):
        asked += rf"|\bhow (?:long\b|many (?:more )?{stem}s?\b)"
    return match["value"] if re.search(asked, question, re.IGNORECASE) else ""


def _place(text: str, question: str) -> str:
    """8 of "day 8" and "it gets out on the 8th day" where the question asks on which day."""
    for asked in _ASKS_WHICH.finditer(question[-1000:]):
        noun = asked["noun"].lower()
        if len(re.findall(rf"\b{noun}\b", text, re.IGNORECASE)) != 1:
            continue
        start = r"(?:(?:.*\s)?(?:on|in|at|during|is|was) )?(?:the )?"
        named = re.fullmatch(rf"{start}{noun} {_PLACE_WORDS}", text, re.IGNORECASE | re.DOTALL)
        if named is not None:
            number = named["number"] if named["number"].isdigit() else number_of(named["number"])
            return str(number or "")
        ordinal = re.fullmatch(rf"{start}(?P<place>[\w-]+) {noun}", text, re.IGNORECASE | re.DOTALL)
        if ordinal is not None and (place := ordinal_of(ordinal["place"])) is not None:
            return str(place)
    return ""


def _remainder(text: str, question: str) -> str:
    """1 of "it leaves remainder 1 on division by 5" where the question divides by 5, and the same power if any."""
    match = _DIVIDED.search(text.replace("*", "").replace("$", ""))
    if match is None or "remainder" not in question.lower():
        return ""
    shown = re.sub(r"[\s${}]", "", question)
    if not re.search(rf"by{match['by']}(?!\d)", shown):
        return ""
    powers = [re.sub(r"[\s{}]", "", power) for power in _POWER.findall(text)]
    return match["value"] if all(power in shown for power in powers) else ""


def _product(text: str, question: str) -> str:
    """-3 of "u·v = -3" where the question asks for the dot product of u and v."""
    match = _PRODUCT.fullmatch(_bare(text))
    if match is None:
        return ""
    asked = _CROSS if match["sign"] in ("×", "\\times") else _DOT
    shown = _bare(question)
    given = set(re.findall(r"(?<![A-Za-z\\])([A-Za-z])\s*=", shown))
    if not asked.search(question) or not {match["one"], match["other"]} <= given:
        return ""
    order = re.search(
        rf"(?<![A-Za-z]){match['one']}\s*=.*(?<![A-Za-z]){match['other']}\s*=", shown, re.DOTALL
    )
    return match["value"] if order or asked is _DOT else ""


def _bare(text: str) -> str:
    """Text without dollars, and letters without the marks of a vector."""
    return _MARKED.sub(lambda match: match[1] or match[2], text.replace("$", "")).strip()
