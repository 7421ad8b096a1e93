"""Takes out of a reply what only describes its answer, so that `statement.py` can read the rest.

The caller puts `ANSWER` where the right answer stands. Taken out are

- an aside at the end: ", a city on the Seine", ", in the Himalayas", ", 1-0 against Argentina". A name of a place in it
  is a known larger one, of another kind than is asked for, and
  stands behind "the": "Paris, in Texas" and "Paris, Texas" are other places, "Paris, in the London" may be two.
- what a person is: "by the English writer @" is "by @"
- what kind of thing the question is about: "The novel was written by @" is "It was written by @"
- the year of a deed, where the question has no number: "written by @ in 1813"

The words that may stand there are those of closed lists, since any other could be a second candidate.
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.statement import ANSWER, DENYING_WORDS, Asked

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
# Places that others lie in or at and that "the" may stand before, by the words of a question that asks for such a place.
_LARGE = (
    (
        {"river", "rivers"},
        """
        Seine;Thames;Rhine;Danube;Nile;Amazon;Rhone;Loire;Elbe;Oder;Vistula;Tiber;Po;Tagus;Ebro;Volga;Dnieper;Don
        ;Mississippi;Missouri;Hudson;Potomac;Colorado;Yukon;Orinoco;Parana;Ganges;Indus;Brahmaputra;Mekong;Yangtze
        ;Congo;Niger;Zambezi;Euphrates;Tigris;Jordan;Vltava;Neva;Moskva
        """,
    ),
    (
        {"range", "ranges", "mountains"},
        """
        Himalayas;Himalaya;Alps;Andes;Rockies;Pyrenees;Carpathians;Appalachians;Urals;Caucasus;Apennines
        ;Dolomites;Balkans;Karakoram;Tatras;Swiss Alps;French Alps;Rocky Mountains
        """,
    ),
    (
        {"sea", "seas", "ocean", "oceans"},
        """
        Pacific;Atlantic;Mediterranean;Adriatic;Aegean;Baltic;Caribbean;Arctic;Antarctic;Bosphorus;North Sea
        ;Black Sea;Red Sea;Dead Sea;Baltic Sea;Mediterranean Sea;Caribbean Sea;Indian Ocean;Pacific Ocean
        ;Atlantic Ocean;Arctic Ocean
        """,
    ),
    ({"desert", "deserts"}, "Sahara;Gobi;Kalahari"),
    (
        {"country", "countries", "state", "nation", "region", "union", "archipelago", "islands"},
        """
        Netherlands;Philippines;Maldives;Bahamas;United States;United Kingdom;United Arab Emirates;European Union
        ;Soviet Union;Czech Republic;Dominican Republic;Ivory Coast;Middle East;Far East;Near East;Levant
        ;Iberian Peninsula
        """,
    ),
    ({"hemisphere", "galaxy"}, "Southern Hemisphere;Northern Hemisphere;Solar System;Milky Way"),
)
_LARGER = {
    name.strip().lower(): asking
    for asking, names in _LARGE
    for name in names.split(";")
    if name.strip()
}
_PARTS = "edge|north|south|east|west|foot|top|heart|middle|centre|center|coast|shores?|banks?|border|mouth"
_NAME = r"[A-Z][a-z]+(?:[ -][A-Z][a-z]+){0,2}"
_LOW = r"[a-z]{3,}"
_PLACE = (
    rf"(?:in|on|at|near|along|by|from) the (?:(?:{_PARTS}) of the )?(?:{_LOW} )?(?P<name>{_NAME})"
)
_NATION = "|".join(one.capitalize() for one in sorted(_NATIONS))
_PERSON = rf"(?:(?:{_NATION}) )?(?:{_LOW} )?(?:{'|'.join(sorted(_PEOPLE))})"
_THING = "|".join(sorted(_THINGS))
_END = r"\)?[.!]?\s*$"
_START = rf"(?<={ANSWER})[*_\"']*\s*(?:,|\s[-–—]|\()\s*"
_AT_PLACE = re.compile(rf"{_START}(?:(?:an?|the) (?:{_LOW} ){{0,2}}(?:{_THING}) )?{_PLACE}{_END}")
_AS_PERSON = re.compile(rf"{_START}(?:an?|the) {_PERSON}{_END}")
_SCORE = re.compile(
    rf"{_START}(?P<ours>\d{{1,3}})[-–:](?P<theirs>\d{{1,3}}) (?:against|over) (?:the )?(?P<name>{_NAME}){_END}"
)
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
_WINNING = frozenset("won win wins winner winners champion champions".split())  # noqa: SIM905
# Words of the question that an aside needs.
_WANTED = {_SCORE: _WINNING, _AS_PERSON: _PEOPLE | {"who", "whom"}}


def without_asides(masked: str, asked: Asked) -> str:
    """`masked` without what only describes its one answer; as it was where anything is in doubt."""
    text = " ".join(plain(masked).split())
    if text.count(ANSWER) != 1 or len(text) > _MOST_CHARS:
        return masked
    for pattern in (_AT_PLACE, _AS_PERSON, _SCORE):
        match = pattern.search(text)
        wanted = _WANTED.get(pattern)
        if match and _is_aside(match, asked) and (not wanted or wanted.intersection(asked.row)):
            text = text[: match.start()]
            break
    title = _TITLE.search(text)
    if title and _is_aside(title, asked):
        text = text[: title.start()] + text[title.end() :]
    subject = _SUBJECT.search(text)
    if subject and _is_meant(subject, asked):
        text = "It " + text[subject.end() :]
    made = _OBJECT.search(text)
    if made and _is_meant(made, asked):
        text = f"{text[: made.start()]}{made['verb']} it{text[made.end() :]}"
    timed = _TIMED.intersection(asked.row) or any(any(map(str.isdigit, one)) for one in asked.row)
    return text if timed else _YEAR.sub("", text)


def _is_aside(match: re.Match[str], asked: Asked) -> bool:
    words = {word.lower() for word in re.findall(r"[A-Za-z]+", match[0])}
    name = {word.lower() for word in re.findall(r"[A-Za-z]+", match.groupdict().get("name") or "")}
    if words & DENYING_WORDS or words & asked.options or name & (_NATIONS | asked.capital):
        return False
    if match.re is _AT_PLACE:
        asking = _LARGER.get(match["name"].lower())
        if asking is None or not asking.isdisjoint(asked.row):
            return False
    if "ours" in match.groupdict() and int(match["ours"]) <= int(match["theirs"]):
        return False
    nations = _NATIONS & asked.capital
    return not nations or not (words & _NATIONS) - nations


def _is_meant(match: re.Match[str], asked: Asked) -> bool:
    """Whether a deed is that of the question, and no other kind of thing is named there."""
    others = _THINGS.intersection(asked.row) - {match["thing"]}
    return not others and (asked.knows(match["verb"]) or match["verb"] == "made")
