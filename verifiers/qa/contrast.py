"""Takes out of a reply the candidates that it rejects itself: "@, not Sydney", "Many say Sydney, but it is @".

The caller puts `ANSWER` where the right answer stands. What is rejected never holds the answer, and what is left is read by
`statement.py` like any other reply, so a rejection of the right answer, or a third candidate, is never paid.
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.asked import Asked
from verigym.verifiers.qa.sentence_words import ANSWER, FUNCTION, VERBS, negates

_WORD = r"[^\W_][^\s,;:.!?()\ue000]*"
_NOT = re.compile(
    rf"(?<={ANSWER})(?P<before>[*_\"']*)(?:\s*,?\s*\(?|\s*[-–—;]\s*)(?:(?:and\s+|and is\s+|it is\s+|it's\s+)?(?:definitely\s+|certainly\s+)?not"
    rf"|rather than|instead of|as opposed to)\s+(?P<other>{_WORD}(?:\s{_WORD}){{0,4}}"
    rf"(?:\s+(?:or|nor|and)\s+{_WORD}(?:\s{_WORD}){{0,2}})?)\)?"
    r"(?:,?\s(?:as|which)\s(?:many|most|some|people|is|one|you|so\smany)\b[^.,;!?\d]{0,40})?"
    rf"(?=[.!]?\s*$|[.!]\s)",
    re.IGNORECASE,
)
# Words behind "not" that doubt the answer itself.
_DOUBTING = frozenset(
    """
    sure certain exactly quite really always ever now today anymore yet true right correct only just even that
    this so it here there entirely completely known clear officially necessarily wholly fully much very in at on
    as by for from because since if when where who which the-answer
    """.split()  # noqa: SIM905
)
_OFTEN = r"(?:often|sometimes|commonly|usually|mistakenly|wrongly|frequently|generally|might|may|would|will|could|still|also)"
_THINK = r"(?:say|think|believe|assume|guess|suppose|claim|expect|answer|name|mention|imagine|tend\s+to\s+\w+)s?"
_THOUGHT = (
    r"(?:thought|said|guessed|assumed|believed|considered|wrote|had|wanted\s+to\s+say|was\s+going\s+to\s+say"
    r"|was\s+tempted\s+to\s+say|was\s+thinking|suspected|leaned\s+towards?)"
)
_IS = r"(?:is|was|are|were)"
_LEAD = (
    rf"(?:(?:many|most|some|lots\s+of|a\s+lot\s+of)\s+(?:people\s+)?|people\s+|students\s+|you\s+|one\s+)(?:{_OFTEN}\s+)*{_THINK}\b"
    rf"|(?:at\s+first|first|initially|originally)\s*,?\s+i\s+{_THOUGHT}\b"
    rf"|i\s+(?:(?:at\s+first|first|initially|originally|once)\s+)?{_THOUGHT}\b"
    rf"|my\s+(?:first|initial)\s+(?:guess|thought|idea|instinct|answer|impression)\s+was\b"
    rf"|(?:it|this|that|the\s+(?:right\s+|correct\s+)?answer)(?:['’]s|\s+{_IS})\s+not\b|(?:it|this|that)\s+isn['’]t\b"
    rf"|(?:although|though|even\s+though|while|despite|contrary\s+to|unlike)\b"
    rf"|not\b|{_WORD}(?:\s{_WORD}){{0,3}}\s+{_IS}\s+(?:{_OFTEN})\s+\w+"
)
_TURN = (
    r"(?:\s*[,;.:…–—-]+\s*(?:but\s+|however,?\s+|yet\s+|rather,?\s+)?|\s+but\s+)"
    r"(?:(?:actually|in\s+fact|really|instead|of\s+course|no|wait)\s*,?\s+)*"
)
_DRAFT = re.compile(
    rf"^(?P<lead>(?:{_LEAD})[^.!?;{ANSWER}]{{1,90}}?){_TURN}(?P<rest>[^.!?;]*{ANSWER}[^?]*)$",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    rf"^(?:(?:it\s+is|it['’]s|the\s+answer\s+is)\s+)?(?:the\s+)?{_WORD}(?:\s{_WORD}){{0,3}}\s*[.,;:…–—-]+\s*"
    rf"(?:(?:oh|no|wait|sorry|correction|scratch\s+that|i\s+mean|actually|my\s+mistake|hmm|rather)\s*[,.:;!–—-]*\s*){{1,3}}"
    rf"(?P<rest>(?:it\s+is\s+|it['’]s\s+|the\s+answer\s+is\s+|i\s+mean\s+)?(?:the\s+)?[*_\"']*{ANSWER}[*_\"']*[.!]?)$",
    re.IGNORECASE,
)
_NAME = r"(?:[Tt]he\s)?[A-Z0-9][^\s,;:.!?()\ue000]*(?:\s[A-Z0-9][^\s,;:.!?()\ue000]*){0,3}"
_NEXT = re.compile(
    rf"\s*[;,.–—]\s*(?:(?:and|while|whereas|with|then)\s+)?(?:"
    rf"{_NAME}(?:\s+(?:and|,)\s+{_NAME})?\s+(?:(?:comes|came|is|was|ranks|ranked|follows|followed|being|finished|placed)\s*)?"
    rf"(?:in\s+)?(?:(?:a\s+)?(?:close\s+|distant\s+)?(?:(?:the\s+)?(?:second|third|next|runner-up)(?:[\s-]\w+(?:est)?)?(?:\s+place)?|behind|after(?:\s+it|\s+that)?))?"
    rf"|{_NAME}\s+(?:is|was)\s+(?:only|merely|just)\s[^;,.!?]{{3,60}}"
    rf"|followed\s+by\s+{_NAME}(?:(?:,|\s+and|,\s+and)\s+{_NAME})*)(?P<end>[.!]?\s*)$"
)
# "Not Sydney, as many believe, but @"; "but it is actually @".
_AS_THOUGHT = re.compile(
    rf"(?<=[^\W_]),?\s\(?(?:as|which)\s(?:(?:is|was|are)\s(?:{_OFTEN}\s)*\w+|(?:many|most|some|people|one|you|we|several|lots)\b[^.,;!?\d({ANSWER}]{{0,40}})\)?"
    r"(?=,?\s(?:but|rather)\b|\s?[;–—])",
    re.IGNORECASE,
)
_STRESS = re.compile(
    r"\b(?:actually|really|in fact|indeed|of course),?\s(?=(?:the\s)?[*_\"']*" + ANSWER + ")",
    re.IGNORECASE,
)
_REJECTING = frozenset(
    """
    not but instead rather opposed no wait sorry first actually correction
    """.split()  # noqa: SIM905
)
_INNER_MARK = re.compile(r"[;.–—,]\s\S")
_OPINION = re.compile(rf"\b{_THINK}\b|\b(?:{_OFTEN}|more|most|\w{{3,}}er|\w{{3,}}est)\b")
_RANKING = frozenset("second third next order rank ranking runner-up".split())  # noqa: SIM905
_RANKED = re.compile(r"second|third|next|runner-up|behind|after|follow|only|merely|just")


_CONCEDED = re.compile(
    r",?\s(?:although|though|even\sthough|but|however)\s(?:they|it|he|she|you|we)\s(?:(?:do|does|did|can|could)\s)?"
    r"(?P<verb>[a-z]{3,})(?P<more>(?:\s[a-z]+){0,5})[.!]?\s*$"
)
_CHANGING = frozenset(
    """
    depend depends vary varies differ differs used sometimes often rarely usually never always still might may
    should would will really actually probably partly not only just almost nearly
    """.split()  # noqa: SIM905
)


def without_concession(answer: str, asked: Asked) -> str:
    """A yes or no without what it concedes of something else: "No, they cannot fly, although they do swim"."""
    found = _CONCEDED.search(answer)
    if found is None or found["verb"] in VERBS | _CHANGING or asked.knows(found["verb"]):
        return answer
    more = found["more"].split()
    if any(negates(word) or word in _CHANGING or asked.knows(word) for word in more):
        return answer
    return answer[: found.start()]


def without_rejected(masked: str, asked: Asked) -> str:
    """`masked` without the candidates that the reply rejects itself; as it was if there are none."""
    if asked.is_negated:
        return masked
    text = " ".join(masked.split())
    low = text.lower()
    if (
        not _INNER_MARK.search(text)
        and _REJECTING.isdisjoint(re.findall(r"[a-z]+", low))
        and "isn" not in low
    ):
        return text
    text = _AS_THOUGHT.sub("", text)
    for pattern in (_DRAFT, _CORRECTED):
        found = pattern.match(text)
        lead = text[: found.start("rest")].lower() if found else ""
        if lead.startswith(("although", "though", "even", "while")) and not _OPINION.search(lead):
            continue  # "Although Lyon is the capital, Paris"
        if found and ANSWER not in lead:
            text = _STRESS.sub("", found["rest"])
            break
    found = _NOT.search(text)
    if found and _is_rival(found["other"], asked):
        text = text[: found.end("before")] + text[found.end() :]
    found = _NEXT.search(text)
    ranked = found and ANSWER in text[: found.start()] and _RANKED.search(found[0])
    if found and ranked and _compares(found[0], asked):
        text = text[: found.start()] + found["end"]
    return text


def _compares(clause: str, asked: Asked) -> bool:
    """Return True if the question wants the first of several, and a clause on another does not answer it too."""
    if not _RANKING.isdisjoint(asked.row):
        return False
    behind = re.split(r"\b(?:only|merely|just)\b", clause)
    if len(behind) == 1:
        return any(word.endswith("est") or word in ("most", "least", "more") for word in asked.row)
    said = re.findall(r"[^\W_]+", behind[-1].lower())
    return any(word not in FUNCTION and not asked.knows(word) for word in said)


def _is_rival(other: str, asked: Asked) -> bool:
    """Return True if what stands behind "not" is a candidate, and no doubt about the answer."""
    words = re.findall(r"[^\W_][\w'’.-]*", other)
    low = [word.lower().strip(".") for word in words]
    if _DOUBTING.intersection(low[:1]) or VERBS.intersection(low) or low[0].endswith("ly"):
        return False
    strange = [word for word in low if word not in FUNCTION and not asked.knows(word)]
    return bool(strange) or not asked.options.isdisjoint(low)
