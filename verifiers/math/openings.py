"""Reads a reply that gives its answer first and then explains it: "36. Each person shakes 8 hands, ...", "k = 9, as then
the equation is ...", "17 is, the others being multiples of 3".

The answer is judged as if it were the reply. What follows may not take back, doubt, go on to another value, or work on with
the first one ("half of that is 18").

Not covered: an answer in a sentence of its own, and lists.
"""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.spelled import number_of
from verigym.verifiers.math.values_in_prose import plain_sentence, values_in

_MOST_CHARS = 1500
_LEAD = lazy_pattern(
    r"(?:(?:it is|it's|that's|that is|this is|exactly|only|namely)\s+)?(?P<said>[^\s.,;:!?(#>*|][^,;:!?()\n]{0,60}?)"
    r"(?P<mark>\.\s+(?=[A-Z])|:\s+(?=[A-Za-z])|\s[–—-]\s+(?=[A-Za-z])|,\s+(?:because|since|as|for|the others?)\b|\s+because\b|\s+since\b)",
    re.IGNORECASE,
)
_ELLIPSIS = lazy_pattern(
    r"(?:only |it's |it is )?(?P<said>[^\s,;:][^,;:!?()\n]{0,40}?) (?:is|does|do|are|can|has|will|did|was|works?)(?=, (?:the others?|since|because|as|while|whereas)\b|[.!]?$)",
    re.IGNORECASE,
)
_CONDITION = lazy_pattern(
    r"(?:exactly |only |precisely )?(?:when|if|for|at|iff|where)\s+(?P<said>[a-z] ?= ?[-−]?[\w./√^]{1,12}|-?\d[\d./]*)(?:,? where [^.;\d]*)?[.!]?",
    re.IGNORECASE,
)
_ASKS_WHEN = lazy_pattern(
    r"\bfor (?:which|what)\b|\bwhen\b|\bwhere\b|\bvalues? of\b", re.IGNORECASE
)
_ASKS_WHICH = lazy_pattern(r"\b(?:which|who|whose|what)\b", re.IGNORECASE)
_TURNS = lazy_pattern(
    r"\b(?:wait|actually|sorry|mistake\w*|wrong|incorrect|correction|instead|rather|however|although|though|maybe|perhaps|possibly|might|hmm|oops|doubt\w*|unsure|sure|guess\w*|alternatively|either|answers?|"
    r"retract\w*|withdraw\w*|scratch|disregard|ignore|unless|if|otherwise|but(?! (?:1|one)\b)|also|another|yet|next|then again|fails?|impossible|contradict\w*|could|may|no longer|reject\w*|valid|says?|said|claim\w*|thinks?|believes?|gives? no|none|too|as well|as (?:is|are|does|do)|so (?:is|are|does|do)|likewise|both|approximate\w*|about|roughly)\b|\?|≠|\.\.\.|…|\bor\b",
    re.IGNORECASE,
)
_WORKS_ON = lazy_pattern(
    r"\b(?:half|twice|doubl\w+|tripl\w+|add(?:ing|ed|s)?|plus|minus|subtract\w*|multipl(?:y|ied|ying|ies)|divid\w+|squar\w+|root|times|take|taking|from) (?:of |by )?(?:that|it|this|the result|both)\b|\b(?:first|step \d|now|next|finally)\b",
    re.IGNORECASE,
)
_CONCLUDES = lazy_pattern(
    r"\b(?:so|thus|hence|therefore|consequently|in total|altogether|which (?:gives|makes|means|leaves|is|yields)|giving|making|leaving|yielding|(?:that|this|it|we|you) (?:gives|makes|means|leaves|yields|get|have|equals?|is|are left))\b",
    re.IGNORECASE,
)
_DENIES = lazy_pattern(r"\W*(?:no|not|nope|never)\b", re.IGNORECASE, needs="no|never")
_STATES = lazy_pattern(
    r"\b(?:it is|it's|that is it|that's it|this is it)\b", re.IGNORECASE, needs="it"
)
_ENDS_IN = lazy_pattern(r"=\s*(?P<end>[-−]?\d[\d.,/]*)\W*$", needs="=")
_LAST_NUMBER = lazy_pattern(
    r"(?<![-+*/·×÷^√(!])(?<![-+*/·×÷^] )(?<![\d.,])(?P<number>\d[\d.,]*(?<=\d)(?:/\d+)?)(?: [^\W\d_]+){0,2}[\s.!]*$"
)
_ITEM = lazy_pattern(r"\d{1,2}|[A-Za-z]")
_NUMBER = lazy_pattern(r"\d[\d.,]*(?<=\d)(?:/\d+)?")


def opening_value(reply: str, question: str) -> str:
    """The answer that a reply opens with; empty if it opens with none, or what follows may be more than an explanation."""
    text = reply.replace("**", "").strip()
    if len(text) > _MOST_CHARS or not question:
        return ""
    if (when := _CONDITION.fullmatch(text)) is not None and _ASKS_WHEN.search(question):
        return when["said"]
    found = _ELLIPSIS.match(text) if _ASKS_WHICH.search(question) else None
    found = found or _LEAD.match(text)
    if found is None:
        return ""
    said, rest = found["said"].strip(), text[found.end() :]
    mark = found.groupdict().get("mark", "")
    if (
        mark.startswith((".", ":"))
        and _ITEM.fullmatch(said)
        and ("\n" in rest or not said.isdigit())
    ):
        return ""  # an item of a list, or an option
    if len(re.findall(r"[^\W\d_]{2,}", said)) > 4 or not _is_plain(said):
        return ""
    if not _explains(said, rest, question) or (
        mark[:1] in ".: "
        and mark.strip() in (".", ":", "–", "—", "-")
        and _goes_on(said, rest, question)
    ):
        return ""
    return said


def _is_plain(said: str) -> bool:
    """Return True for a value or a name, and no sentence or doubt."""
    return not (_TURNS.search(said) or _CONCLUDES.search(said)) and not re.search(
        r"\b(?:not|no|never|nor|is|are|was|let|we|case|step|the)\b|n't\b", said, re.IGNORECASE
    )


def _explains(said: str, rest: str, question: str) -> bool:
    """Return True if the text behind an answer takes nothing back and ends in no other value."""
    if _TURNS.search(rest) or _WORKS_ON.search(rest) or _DENIES.match(rest):
        return False
    if not re.search(r"\d", said) and _STATES.search(rest):
        return False  # "Isosceles: ... It is scalene."
    if "that is it" in rest or "that's it" in rest:
        return False
    numbers = set(map(_plain_number, _NUMBER.findall(plain_sentence(said))))
    if re.search(rf"\bnot (?:equal to |be )?{re.escape(said)}(?!\w)", rest):
        return False
    concluded = list(_CONCLUDES.finditer(rest))
    if concluded:
        behind = values_in(plain_sentence(rest[concluded[-1].end() :]))
        if behind and not numbers & set(map(_plain_number, _NUMBER.findall(behind[-1].text))):
            return False
    end = _ENDS_IN.search(rest)
    known = numbers | set(map(_plain_number, _NUMBER.findall(question)))
    return end is None or not numbers or _plain_number(end["end"].rstrip(".,")) in known


def _goes_on(said: str, rest: str, question: str) -> bool:
    """Return True if a text ends in a number that neither the answer nor the question has: "9. The mean is 27."."""
    last = _LAST_NUMBER.search(rest)
    if last is None:
        return False
    known = set(map(_plain_number, _NUMBER.findall(f"{plain_sentence(said)} {question}")))
    return _plain_number(last["number"]) not in known


def _plain_number(text: str) -> str:
    return (number_of(text) or text).replace(",", "")
