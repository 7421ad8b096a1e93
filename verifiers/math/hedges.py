"""Finds remarks behind an answer that name another one beside it: "7, or maybe 8", "it could equally be eight".

A candidate is a number in digits or words, a formula, the letter of an option, or "something else". Other
ways to write the same answer are no candidates: "it could also be written as seven".
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of

_NEAR = 200
_TAIL = 1500
_ONES = "zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
SPELLED = rf"(?:(?:minus |negative )?(?:(?:{_TENS})(?:[- ](?:one|{_ONES}))?|one|{_ONES}|(?:a|one) (?:hundred|thousand|half)))"
_ALONE = r"(?=\W*(?:$|[.,;!?)\n])|\s+(?:and|or|also|too|would|could|might|may|is|are|as well|instead|otherwise|if|for|when|or else|works?)\b)"
_END = r"(?=[)}\]*$\s]*(?:$|[.,;!?)\n]))"
_OTHER = rf"(?:\\boxed|\\fbox|-?\d|\$|\\\(|\\frac|\\sqrt|(?i:\b{SPELLED}\b){_ALONE}|\(?\b(?-i:[A-J])\b\)?{_END}|\b(?-i:[a-z])\s?[-+*/^=]\s?\w)"
_BESIDE = lazy_pattern(
    rf"^\W{{0,12}}(?:or|and)\b(?:\s+(?:maybe|perhaps|possibly|it|the|also|even|else|could|might|be|is|was|rather|answer|\\text\{{))*\s*[^\w\\]*{_OTHER}"
    rf"|\b(?:though|although|however|but|while|whereas)\b[^.\n]{{0,30}}?{_OTHER}[^.\n]{{0,40}}?\b(?:also|possible|valid|could|might|may|works?|acceptable|too)\b"
    r"|^\W{0,6}(?:for|if|when|in case)\b[^.\n]{1,60}?\b(?:and|but|or|while|whereas)\b\W{0,6}(?:\\boxed|-?\d)[^.\n]{0,40}?\b(?:for|if|when|in case|otherwise)\b"
    rf"|^\W{{0,6}}(?:unless\b|{_OTHER}\W{{0,3}}\s*(?:otherwise|instead|if not|or else)\b)"
    rf"|^\W{{0,12}}(?:perhaps|maybe|possibly)\b[^.\n]{{0,30}}?{_OTHER}"
    rf"|\b(?:alternatively|otherwise|another (?:\w+ )?(?:answer|solution|option|possibility|candidate))\b[^.]{{0,40}}?{_OTHER}",
    re.IGNORECASE,
)
_SENTENCE = lazy_pattern(r"[.!?](?=\s|$)|\n")
_COULD_BE = lazy_pattern(
    r"\b(?:it|this|that|which|[a-z]|(?:the|my) (?:\w+ )?(?:answer|result|value|solution|total|sum|number))\s+(?:could|might|may|can)\s+"
    r"(?P<how>(?:(?:also|equally|just|as|well|possibly|instead|perhaps|easily|still|actually|even|very|in fact|of course)\s+)*)"
    r"(?:be|equal|turn out to be)\s+(?P<other>.{1,80})",
    re.IGNORECASE,
    needs="be|equal",
)
_EQUALLY = lazy_pattern(r"\b(?:equally|well|instead|easily)\b", re.IGNORECASE)
_WAY = lazy_pattern(
    r"(?:\w+(?:ed|en)|seen|shown|found|done|put|thought|read|left|of|a|an|the|useful|helpful|tempting|worth|instructive|as|more|less|true|hard|easy|easier|good|nice)\b",
    re.IGNORECASE,
)
_ELSE = lazy_pattern(r"(?:different|wrong|incorrect|something else|another|anything|otherwise|off|either)\b", re.IGNORECASE, needs="another|anything|different|either|incorrect|off|otherwise|something else|wrong")  # fmt: skip
_FIRST = lazy_pattern(rf"(?:exactly |also |equal to |just |about |the |an? |option |answer )*[^\w\\]*(?P<one>{_OTHER})", re.IGNORECASE)  # fmt: skip
_ALSO = lazy_pattern(
    r"\b(?:also|equally|too|as well|just as|both|likewise)\b",
    re.IGNORECASE,
    needs="also|as well|both|equally|just as|likewise|too",
)
_POSSIBLE = lazy_pattern(
    r"\b(?:possible|valid|acceptable|plausible|correct|right|defensible|reasonable|good|fine|true|works?|do|fits?|answers?|options?|possibility|candidates?)\b",
    re.IGNORECASE,
)
_SAYS = lazy_pattern(
    r"^\W*(?:then again|on the other hand|if not|failing that|or else|unless|some|others|someone|many|people)\b",
    re.IGNORECASE,
    needs="failing that|if not|many|on the other hand|or else|others|people|some|then again|unless",
)
_OTHER_READING = lazy_pattern(
    r"\b(?:alternative(?:ly)?|(?:another|other|different|second) (?:reading|interpretation|answer|view|option|solution|possibility|convention)|depend(?:s|ing)"
    r"|prefer|imagine|argue|equally|just as (?:good|well))\b",
    re.IGNORECASE,
)
_EITHER = lazy_pattern(rf"\b(?:either|between|both|torn)\b[^.\n]{{0,20}}?{_OTHER}[^.\n]{{0,12}}?\b(?:or|and)\s+[^\w\\]{{0,3}}{_OTHER}", re.IGNORECASE, needs="between|both|either|torn")  # fmt: skip
_ANY_OTHER = lazy_pattern(rf"(?P<one>-?\d[\d.,/]*|(?i:\b{SPELLED}\b)|\b(?-i:[B-HJ])\b)")

_WARNS = lazy_pattern(
    r"(?:(?<=[.!?\n])|^)[^.!?\n]*\b(?:(?:common|frequent|typical|classic|usual|easy|tempting|careless|popular|standard) (?:\w+ )?(?:mistakes?|errors?|pitfalls?|traps?|slips?|misconceptions?|wrong answers?)"
    r"|(?:mistake|error|trap|pitfall) (?:here )?(?:would be|is) to|(?:many|some|most) (?:people|students|solvers) (?:mistakenly|wrongly|incorrectly|erroneously|forget|overlook)"
    r"|(?:beware of|watch out for|be careful not to|do not confuse|don't confuse|don't forget|do not forget))\b[^.!?\n]*(?:[.!?](?=\d)[^.!?\n]*)*[.!?]?[*_]{0,3}",
    re.IGNORECASE,
    needs=" ",
)
_OWNS_UP = lazy_pattern(
    r"\b(?:i|my|me|i've|we|our|wait|actually|instead|correct|right|true|real|proper|should be|fix\w*|so|thus|therefore|hence|the answer is|could|might|may|maybe|perhaps|also)\b",
    re.IGNORECASE,
)


def without_warnings(tail: str, answer: str = "") -> str:
    """The text behind `answer` without sentences that warn of a common mistake. One stays in which the reply
    speaks of itself or of the right answer, concludes, hedges, or names the answer as the mistake."""
    if not tail:
        return tail
    own = answer.strip(" $*.")

    def kept(match: re.Match[str]) -> str:
        said = match[0]
        named = (
            bool(own) and re.search(rf"(?<![\w.]){re.escape(own)}(?![\w]|\.\d)", said) is not None
        )
        return said if named or _OWNS_UP.search(said) else " "

    return _WARNS.sub(kept, tail)


def names_another(answer: str, tail: str) -> bool:
    """Return True if the text behind `answer` names another answer beside it."""
    if len(tail) < 8 and not tail.strip(" .$*}!\n"):
        return False
    if _BESIDE.search(tail[:_NEAR]):
        return True
    return any(
        _is_hedge(one.strip(), answer) for one in _SENTENCE.split(tail[:_TAIL]) if len(one) > 5
    )


def _is_hedge(sentence: str, answer: str) -> bool:
    match = _COULD_BE.search(sentence)
    if match is not None:
        other = match["other"].strip(" $*(")
        first = _FIRST.match(match["other"])
        if _ELSE.match(other) or (first is not None and not _is_same(other, answer)):
            return True
        if _EQUALLY.search(match["how"]) and not _WAY.match(other) and len(other.split()) <= 3:
            return True
    if (
        (_ALSO.search(sentence) and _POSSIBLE.search(sentence))
        or _SAYS.match(sentence)
        or (len(sentence) < 100 and _OTHER_READING.search(sentence))
    ):
        others = [one["one"] for one in _ANY_OTHER.finditer(sentence)]
        if any(not _is_same(one, answer) for one in others if one.lower() != "one"):
            return True
    return _EITHER.search(sentence) is not None


def _is_same(one: str, answer: str) -> bool:
    one = one.strip(" .,$")
    return (number_of(one) or one) == (number_of(answer) or answer.strip(" .,$"))
