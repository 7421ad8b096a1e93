"""Takes out of a reply what only describes its answer, so that `statement.py` can read the rest.

The caller puts `ANSWER` where the right answer stands. Taken out are

- what a person is: "by the English writer @" is "by @"
- what kind of thing the question is about: "The novel was written by @" is "It was written by @"
- the year of a deed, where the question has no number: "written by @ in 1813"

The words that may stand there are those of closed lists, since any other could be a second candidate. A clause behind the
answer (", a city on the Seine", ", 1-0 against Argentina", ", the English playwright") is not taken out: it claims what
neither question nor reference has, and only knowledge of the world tells "on the Seine" from "on the Thames".
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.asked import Asked
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.sentence_words import ANSWER, DENYING_WORDS

_THINGS = frozenset(
    """
    novel book play poem story tale song opera symphony concerto ballet musical hymn anthem painting picture
    portrait mural fresco sculpture statue drawing film movie series show album essay speech letter work piece
    masterpiece article element metal compound gas mineral planet moon comet star galaxy particle vaccine drug
    antibiotic virus bacterium disease law theory theorem principle equation formula method device machine engine
    instrument invention company firm city town village port country state island peninsula river mountain peak
    volcano lake sea ocean desert valley canyon waterfall glacier war battle treaty match game final race
    tournament cup prize award team club band building tower bridge temple church cathedral palace castle
    museum stadium monument ship species animal bird language sport
    """.split()  # noqa: SIM905
)
_PEOPLE = frozenset(
    """
    writer novelist author poet playwright dramatist painter artist sculptor physicist chemist scientist
    mathematician astronomer biologist naturalist physician doctor composer musician singer engineer inventor
    explorer navigator architect director filmmaker philosopher economist historian actor actress astronaut
    cosmonaut politician statesman president king queen emperor general athlete footballer sprinter
    """.split()  # noqa: SIM905
)
_NATIONS = frozenset(
    """
    english british scottish irish welsh french german italian spanish portuguese dutch belgian swiss austrian
    polish czech hungarian russian soviet ukrainian greek turkish swedish norwegian danish finnish icelandic
    american canadian mexican brazilian argentine chilean colombian cuban australian japanese chinese indian
    korean israeli egyptian iranian persian nigerian serbian croatian romanian bulgarian roman flemish
    """.split()  # noqa: SIM905
)
_LOW = r"[a-z]{3,}"
_NATION = "|".join(one.capitalize() for one in sorted(_NATIONS))
_PERSON = rf"(?:(?:{_NATION}) )?(?:{_LOW} )?(?:{'|'.join(sorted(_PEOPLE))})"
_THING = "|".join(sorted(_THINGS))
_TITLE = re.compile(rf"(?:(?<=\bby )|(?<=\bwas )|(?<=\bis )|^)(?:[Tt]he )?{_PERSON} (?={ANSWER})")
_SUBJECT = re.compile(
    rf"^(?:The|This|That) (?P<thing>{_THING}) (?=(?:is|was|has been|had been) (?P<verb>[a-z]+) by {ANSWER})"
)
_OBJECT = re.compile(
    rf"(?<=^{ANSWER} )(?P<verb>[a-z]+) (?:the|this|that) (?P<thing>{_THING})(?=[.!]?$|\sin\s\d)"
)
_YEAR = re.compile(rf"(?:(?<=by {ANSWER})|(?<= it)) in [12]\d{{3}}(?=[.!]?\s*$)")
_MOST_CHARS = 300
_TIMED = frozenset("when year date now current currently last latest recent first today".split())  # noqa: SIM905


def without_asides(masked: str, asked: Asked) -> str:
    """`masked` without what only describes its one answer; as it was where anything is in doubt."""
    text = " ".join(plain(masked).split())
    if text.count(ANSWER) != 1 or len(text) > _MOST_CHARS:
        return masked
    title = _TITLE.search(text)
    if title and _is_title(title, asked):
        text = text[: title.start()] + text[title.end() :]
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
    nations = _NATIONS & asked.capital
    return not nations or not (words & _NATIONS) - nations


def _is_meant(match: re.Match[str], asked: Asked) -> bool:
    """Return True if a deed is that of the question, and no other kind of thing is named there."""
    others = _THINGS.intersection(asked.row) - {match["thing"]}
    return not others and (asked.knows(match["verb"]) or match["verb"] == "made")
