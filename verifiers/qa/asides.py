"""Takes out of a reply what only describes its answer, so that `statement.py` can read the rest.

The caller puts `ANSWER` where the right answer stands. Taken out are

- what a person is: "by the English writer @" is "by @"
- what kind of thing the question is about: "The novel was written by @" is "It was written by @"
- the year of a deed, where the question has no number: "written by @ in 1813"
- a title: "President @", "Sir @"

The words that may stand there are those of closed lists, since any other could be a second candidate. `clauses.py` has what
stands behind the answer.
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.asked import Asked
from verigym.verifiers.qa.clauses import PEOPLE, THINGS
from verigym.verifiers.qa.names import TITLES
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.places import NATIONS, asks_person
from verigym.verifiers.qa.sentence_words import ANSWER, DENYING_WORDS

_LOW = r"[a-z]{3,}"
_NATION = "|".join(one.capitalize() for one in sorted(NATIONS))
_PERSON = rf"(?:(?:{_NATION}) )?(?:{_LOW} )?(?:{'|'.join(sorted(PEOPLE))})"
_THING = "|".join(sorted(THINGS))
_TITLE = re.compile(rf"(?:(?<=\bby )|(?<=\bwas )|(?<=\bis )|^)(?:[Tt]he )?{_PERSON} (?={ANSWER})")
_HONOUR = re.compile(
    rf"(?P<before>^|\b(?:by|was|is|of|for|to|with)\s)(?:the\s)?(?:{TITLES})\.?\s(?={ANSWER})",
    re.IGNORECASE,
)
_BY_ONE = re.compile(rf"^(?:The|This|That) (?P<thing>{_THING}) (?:is|was) (?=by {ANSWER})")
_SUBJECT = re.compile(
    rf"^(?:The|This|That) (?P<thing>{_THING}) (?=(?:is|was|has been|had been) (?P<verb>[a-z]+) by {ANSWER})"
)
_OBJECT = re.compile(
    rf"(?<=^{ANSWER} )(?P<verb>[a-z]+) (?:the|this|that) (?P<thing>{_THING})(?=[.!]?$|\sin\s\d)"
)
_YEAR = re.compile(
    rf"(?:(?<={ANSWER})|(?<= it)) (?:(?:in|around|about|circa) [12]\d{{3}}|(?:between|from) [12]\d{{3}} (?:and|to) [12]\d{{3}})(?=[.!]?\s*$)"
)
_MOST_CHARS = 300
_TIMED = frozenset("when year date now current currently last latest recent first today".split())  # noqa: SIM905


def without_asides(masked: str, asked: Asked) -> str:
    """`masked` without what only describes its one answer; unchanged if anything is in doubt."""
    text = " ".join(plain(masked).split())
    if text.count(ANSWER) != 1 or len(text) > _MOST_CHARS:
        return masked
    title = _TITLE.search(text)
    if title and _is_title(title, asked):
        text = text[: title.start()] + text[title.end() :]
    if asks_person(asked) and not DENYING_WORDS.intersection(text.lower().split()):
        text = _HONOUR.sub(r"\g<before>", text)
    by = _BY_ONE.search(text)
    if by and not THINGS.intersection(asked.row) - {by["thing"]}:
        text = "It is " + text[by.end() :]
    subject = _SUBJECT.search(text)
    if subject and _is_meant(subject, asked):
        text = "It " + text[subject.end() :]
    made = _OBJECT.search(text)
    if made and _is_meant(made, asked):
        text = f"{text[: made.start()]}{made['verb']} it{text[made.end() :]}"
    timed = _TIMED.intersection(asked.row) or any(any(map(str.isdigit, one)) for one in asked.row)
    return text if timed else _YEAR.sub("", text)


def _is_title(match: re.Match[str], asked: Asked) -> bool:
    """Return True if what stands before a name only says what the person is."""
    words = {word.lower() for word in re.findall(r"[A-Za-z]+", match[0])}
    if words & DENYING_WORDS or words & asked.options:
        return False
    nations = NATIONS & asked.capital
    return not nations or not (words & NATIONS) - nations


def _is_meant(match: re.Match[str], asked: Asked) -> bool:
    """Return True if a deed is that of the question, and no other kind of thing is named there."""
    others = THINGS.intersection(asked.row) - {match["thing"]}
    return not others and (asked.knows(match["verb"]) or match["verb"] == "made")
