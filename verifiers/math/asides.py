"""Takes off what a reply says behind its claim: "..., or about 37.7 cm", "(so the nullity is 1)", "Numerically, that's
roughly 62.8", "You get this from ...", "It is not equilateral, as ...".

What is left is judged as if it were the reply. A rounded value behind a claim must agree with it. An aside that
doubts, corrects or names another answer stays.

Not covered: asides in other languages, and asides in front of the claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.numeric import Undefined, value_of
from verigym.verifiers.math.parser import parse
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.tongues import is_english
from verigym.verifiers.math.trees import TooBig, Unreadable
from verigym.verifiers.math.units import Unit, split_unit, unit_of
from verigym.verifiers.math.values_in_prose import Value, plain_sentence, values_in

_MOST_CHARS = 3000
_CLOSE = 0.02
_SENTENCE = lazy_pattern(r"(?<=[\w)$%}²³°*!])[.!]\s+(?=[A-Z\d$\\(*])|\n+")
_TAKES_BACK = lazy_pattern(
    r"\b(?:wait|actually|sorry|mistake\w*|wrong|incorrect|correction|instead|or rather|but|however|although|unless|maybe|perhaps|possibly|might|may|could|would|should|if|hmm|oops|"
    r"doubt\w*|unsure|sure|guess\w*|assum\w+|another|other|alternatively|also|either|both|answers?|change|retract\w*|withdraw\w*|scratch|accept\w*|equally|valid|correct|right|disregard|ignore)\b|n't\b|\?|≠",
    re.IGNORECASE,
)
_ROUGHLY = r"(?:about|approximately|approx\.?|roughly|around|nearly|almost|close to|some|a (?:bit|little) (?:under|over|more than|less than)|just (?:under|over)|slightly (?:under|over|more than|less than)|≈|~|\\approx)"
_ROUNDED = lazy_pattern(
    rf"(?:,? (?:or|which is|i\.e\.,?|that is,?|that's|so|making it|giving|namely|being)|,|;| –| —|:)? {_ROUGHLY}\s?(?P<value>[^,;]{{1,40}})$",
    re.IGNORECASE,
)
_ROUNDED_SENTENCE = lazy_pattern(
    rf"(?:(?:numerically|in decimals?|in decimal form|as a decimal|as a percentage|in other words|to put it in numbers|for (?:reference|scale)|in numbers)[,:]? )?(?:(?:that|this|it|which)(?:'s| is| comes to| works out to| equals| amounts to|s)? |(?:(?:the|so|this|its|it|that|he|she|they) )(?:[a-z]+ ){{1,9}})?{_ROUGHLY}\s?(?P<value>[^,;]{{1,40}})",
    re.IGNORECASE,
)
_BRACKETS = lazy_pattern(
    r"\s*\((?P<aside>[^()]*(?:\([^()]*\)[^()]*)*)\)(?P<rest>[^()\d]{0,40})$", needs="("
)
_OWNS_UP = lazy_pattern(
    r"\b(?:wait|actually|sorry|mistake\w*|wrong|incorrect|correction|instead|rather|answers?|maybe|perhaps|possibly|might|hmm|oops|change|retract\w*|withdraw\w*|scratch|correct|right|valid|"
    r"disregard|ignore|should|must|doubt\w*|(?:could|may) (?:also|be|equally)|so|therefore|thus|hence|final)\b|\?",
    re.IGNORECASE,
)
_SIDE_NOTE = lazy_pattern(
    r"\W*(?:as (?:a|an) (?:side note|aside|remark|bonus)|by the way|incidentally|for (?:reference|comparison|completeness|the record)|in passing)\b",
    re.IGNORECASE,
)
_REMARK = lazy_pattern(
    r"\W*(?:as (?:a|an) (?:side note|aside|remark|sanity check|check|bonus)|by the way|incidentally|for (?:reference|comparison|completeness|what it's worth|the record)|for example|for instance|in passing|"
    r"(?:(?:you|we|one|i) (?:get|got|obtain|find|found|see|can see|can get)|(?:this|that|it) (?:comes|follows|is obtained|results|can be seen|works|is true|holds)) (?:this|that|it|from|because|by|since|when|as)\b|"
    r"(?:the )?(?:reason|reasoning|explanation|justification|derivation|proof|working|workings|why|details|here's why|here is why|here's how|to see (?:this|why|it))\b|don't (?:confuse|forget)|do not (?:confuse|forget))",
    re.IGNORECASE,
)
_DENIED = lazy_pattern(
    r"(?:(?:it|this|that|the (?P<noun>[a-z]+)) )(?:is|was)(?: not|n't) (?:an? |the )?(?P<word>[a-z]+)\b",
    re.IGNORECASE,
    needs="not|n't",
)
_CLAUSE = lazy_pattern(
    r",? (?:with|for) (?:an? |any |some )?(?:arbitrary |real |any )?(?:constant )?\$?[A-Z]\$? (?:an?|any|being an?|some|is an?) (?:arbitrary |real )*constant$"
    r"|(?<=[\w)}]) after (?:dividing|cancell?ing|reducing|simplifying|rounding|expanding|factoring|multiplying|converting)\b[^.;:=]{0,60}$"
    r"|,? with equality (?:for|at|when|if|in|only)\b[^.;]{1,60}$",
    needs="constant|with equality|after ",
)
_MEASURE = lazy_pattern(
    r"(?:i\.e\.,? |that is,? |or |= ?)?(?P<value>[$€£]\d[\d.]*(?:,\d{3})*|\d[\d.]*(?:,\d{3})*(?:/\d+)? ?[a-zA-Z%€£°]{1,14}[²³]?(?:/[a-z]{1,3})?)"
)
_MEASURED = lazy_pattern(r"[$€£]?\d[\d.,]*(?: [^\W\d_]+)?$")
"""A number with its unit at the end of a text."""
_SPELLED = lazy_pattern(
    r"(?:\b(?:an?|half|one|two|three|and|of|quarters?|thirds?|[^\W\d_]+-[^\W\d_]+)\b ?)*[^\W\d_]+$"
)
"""A measure in words at the end of a text: "half a day"."""
_SHARES = {
    "a": 1.0, "one": 1.0, "half a": 0.5, "a quarter of a": 0.25, "quarter of a": 0.25, "one quarter of a": 0.25,
    "three quarters of a": 0.75, "three-quarters of a": 0.75, "one and a half": 1.5, "two and a half": 2.5,
    "a third of a": 1 / 3, "two thirds of a": 2 / 3,
}  # fmt: skip
_PART_OF = lazy_pattern(r"(?P<share>(?:[a-z-]+ )+)(?P<unit>[a-z]+)", needs=" ")
_NEAR = 25
_ROUNDED_ASIDE = lazy_pattern(
    rf"(?:or |i\.e\.,? |which is )?{_ROUGHLY}\s?(?P<value>.{{1,40}})", re.IGNORECASE
)
_SHOWS = lazy_pattern(
    r"(?!(?:mod|base|in|to|per|each|times|or|about|squared|cubed|approx\w*|if|when|for|at|case|step)\b)[A-Za-z]+(?: [a-z]+){0,2} (?:=|is|are|of)? ?-?\d[\d.,/]*(?: ?[a-z²³°%]{1,8})?"
    r"|(?:[A-Za-z\d][\w./-]{0,6}(?:, (?:and )?| and )){2,}[A-Za-z\d][\w./-]{0,6}"
)
"""Values that another one is worked out from: "side 7 cm", "M, I, S, P"."""
_EXPLAINS = lazy_pattern(
    r"(?:so|since|because|as|the|and|with|not|which|where|by|from|using)\b", re.IGNORECASE
)
_CONFUSES = lazy_pattern(
    r"(?:don't|do not|not to be|never) (?:confuse|be confused|mistake|mix)[^()]*", re.IGNORECASE
)


def without_asides(reply: str) -> Iterator[str]:
    """A reply without the aside that ends it, in the readings that it allows; none if it ends in no aside."""
    text = reply[-_MOST_CHARS:].replace("**", "").rstrip(" .!*\n")
    parts = _SENTENCE.split(text)
    last = parts[-1].strip()
    if len(last) > 400 or not last:
        return
    head = text[: len(text) - len(parts[-1])].rstrip()
    if len(parts) > 1 and (before := parts[-2].strip()) and _is_remark(last, before):
        yield head
        return
    yield from (f"{head} {said}" for said in _shortened(last))


def _is_remark(last: str, before: str) -> bool:
    """Return True if a last sentence only explains, rounds or contrasts what the one before it says."""
    rounded = _ROUNDED_SENTENCE.fullmatch(last)
    if rounded is not None:
        return _agrees(before, rounded["value"])
    denied = _DENIED.match(last)
    if denied is not None:
        word = denied["word"].lower()
        rest = re.sub(r"\b(?:would|also)\b", "", last[denied.end() :])
        return (
            word not in before.lower()
            and word.isalpha()
            and len(word) > 4
            and not _TAKES_BACK.search(rest)
        )
    plain = _CONFUSES.sub("", last)
    if _SIDE_NOTE.match(last):
        return _OWNS_UP.search(plain) is None
    return _REMARK.match(last) is not None and not _TAKES_BACK.search(plain)


def _shortened(sentence: str) -> Iterator[str]:
    rounded = _ROUNDED.search(sentence)
    if rounded is not None:
        head = sentence[: rounded.start()]
        if _says_more(head) and _agrees(head, rounded["value"]):
            yield head
        return
    clause = _CLAUSE.search(sentence)
    if clause is not None and clause.start():
        yield sentence[: clause.start()]
        return
    brackets = _BRACKETS.search(sentence)
    if brackets is None:
        return
    aside = _CONFUSES.sub("", brackets["aside"].strip())
    if not (_says_more(sentence[: brackets.start()]) or _SHOWS.fullmatch(aside)):
        return
    if not (_TAKES_BACK.search(aside) or _TAKES_BACK.search(brackets["rest"])):
        yield from _without_brackets(sentence[: brackets.start()], aside, brackets["rest"])


def _without_brackets(head: str, aside: str, rest: str) -> Iterator[str]:
    """A sentence without the brackets behind its value, or with the value in them in place of words."""
    rounded, value = _ROUNDED_ASIDE.fullmatch(aside), _MEASURE.fullmatch(aside)
    if rounded is not None:
        if _agrees(head, rounded["value"]):
            yield f"{head}{rest}"
    elif value is None:
        if (
            not aside
            or _EXPLAINS.match(aside)
            or (len(aside.split()) > 2 and not re.search(r"\d", aside))
        ):
            yield f"{head}{rest}"
    elif re.search(r"\d", head[-_NEAR:]) is None:
        spelled = _SPELLED.search(head)
        if spelled is not None and (not is_english(head) or _is_same(spelled[0], value["value"])):
            yield f"{head[: spelled.start()]} {value['value']}{rest}"
    elif _agrees(head, value["value"]):
        yield f"{head}{rest}"
        yield f"{_MEASURED.sub('', head)} {value['value']}{rest}"


def _is_same(spelled: str, value: str) -> bool:
    """Return True for "half a day" and "12 h"."""
    words = _PART_OF.fullmatch(spelled.strip().lower())
    unit = unit_of(words["unit"]) if words is not None else None
    found = values_in(plain_sentence(value))
    number = _number(found[0]) if found else None
    if words is None or unit is None or number is None:
        return False
    share = _SHARES.get(re.sub(r"\ban\b", "a", words["share"]).strip())
    return share is not None and abs(share * float(unit.factor) - number) <= 1e-9 * abs(number)


def _says_more(head: str) -> bool:
    """Return True if a sentence in front of an aside has words or an equation, and is no lone expression."""
    return "=" in head or len(re.findall(r"[^\W\d_]{2,}", head)) > 1


def _agrees(before: str, rounded: str) -> bool:
    """Return True if a rounded value is close to the last value of a text, in the same unit or none."""
    found, behind = (values_in(plain_sentence(text)) for text in (before, rounded))
    if not found or not behind:
        return False
    one, other = _number(found[-1]), _number(behind[0])
    return (
        one is not None
        and other is not None
        and abs(one - other) <= _CLOSE * max(abs(one), abs(other))
    )


def _number(value: Value) -> float | None:
    """A value as a number in the base of its unit; None if it is none."""
    text = clean(value.whole.rpartition("=")[2])
    for body, unit in (*split_unit(text), (text, Unit())):
        try:
            number = value_of(parse(body.strip()), {})
        except (Unreadable, TooBig, Undefined, ZeroDivisionError, OverflowError, ValueError):
            continue
        return float(number.real) * float(unit.factor)
    return None
