"""Takes out of a reply a clause behind its answer that locates or describes it: "@, in the Himalayas", "@ (1891-1940)".

The caller puts `ANSWER` where the right answer stands. Taken out, or made a sentence of its own that `statement.py` reads as a
remark, are

- a place of another kind than is asked for: ", Spain", " (in Peru)", ", on the Seine" (`places.py`)
- what sort of thing or person it is: ", a city in the Alps", ", the English playwright"
- years and dates in brackets: " (1891-1940)", " (1974)", " (2021 census)"
- a relative clause or one that opens with a participle: ", who finished it in 1940", ", known for its beaches"
- the author of a work, and its second title: "@ by Herman Melville", "@; or, The Whale"

Without knowledge of the world nothing there contradicts the reference: "Paris, on the Thames" is paid like "Paris, on the Seine".
A clause is left where it stands, so that the reply is refused, if it has a name that may be another candidate, a score, a
denial or a doubt.
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.asked import Asked
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.places import NATIONS, asks_person, asks_place, is_beside, is_large
from verigym.verifiers.qa.sentence_words import ANSWER, DENYING_WORDS, SAYS

THINGS = frozenset(
    """
    novel book play poem story tale song opera symphony concerto ballet musical hymn anthem painting picture
    portrait mural fresco sculpture statue drawing film movie series show album essay speech letter work piece
    masterpiece article element metal compound gas mineral planet moon comet star galaxy particle vaccine drug
    antibiotic virus bacterium disease law theory theorem principle equation formula method device machine engine
    instrument invention company firm city town village port country state island peninsula river mountain peak
    volcano lake sea ocean desert valley canyon waterfall glacier war battle treaty match game final race
    tournament cup prize award team club band building tower bridge temple church cathedral palace castle
    museum stadium monument ship species animal bird language sport giant dwarf metropolis capital tragedy comedy sonnet province region mammal
    """.split()  # noqa: SIM905
)
PEOPLE = frozenset(
    """
    writer novelist author poet playwright dramatist painter artist sculptor physicist chemist scientist
    mathematician astronomer biologist naturalist physician doctor composer musician singer engineer inventor
    explorer navigator architect director filmmaker philosopher economist historian actor actress astronaut
    cosmonaut politician statesman president king queen emperor general athlete footballer sprinter
    """.split()  # noqa: SIM905
)
_WORKS = frozenset(
    "novel book play poem story song opera film movie painting album symphony series work".split()  # noqa: SIM905
)
_LOW = r"[a-z]{2,}(?:-[a-z]+)*"
_NATION = "|".join(one.capitalize() for one in sorted(NATIONS))
_SORT = re.compile(
    rf"^(?:an?|the|one of the)\s+(?:(?:{_NATION})\s+)?(?:(?:(?!(?:of|in|on|for|by)\b){_LOW}|\d{{1,3}}(?:st|nd|rd|th))\s+){{0,3}}"
    rf"(?P<sort>{'|'.join(f'{one}s?' for one in sorted(THINGS | PEOPLE))})\b"
)
_NAME = r"[A-Z][\w'’.]*(?:[ -](?:of |the |de |la )?[A-Z][\w'’.]*){0,3}"
_PARTS = "edge|north|south|east|west|foot|top|heart|middle|centre|center|coast|shores?|banks?|border|mouth|slopes?"
_PLACED = re.compile(
    r"(?:^|\s)(?:(?P<near>near|close to|(?:north|south|east|west|north-?east|north-?west|south-?east|south-?west) of)"
    r"|in|on|at|along|off|from|of|across|within|inside|between)\s+"
    rf"(?:(?:the\s+)?(?:{_PARTS}|northern|southern|eastern|western|central)(?:\s+(?:of|part of|coast of))?\s+)?(?P<the>the\s+)?"
    r"(?:(?:(?P<kind>island|city|region|province|state|country|continent|county|gulf|bay|village|town|department) of"
    rf"|river|lake|mount)\s+)?(?P<name>{_NAME})(?=\W|$)"
)
_BEING = re.compile(r"^(?:which|who|that)\s(?:is|was)\s(?:also\s)?(?=(?:an?|the|one of the)\s)")
_OWNED = re.compile(r"^([A-Z][\w.]*)['’]s?\s")
_BARE = re.compile(rf"^(?P<the>the\s)?(?P<name>{_NAME})(?:,\s(?P<more>{_NAME}))?$")
_YEARS = re.compile(
    r"(?:^|\s)(?:(?:in|on|since|from|until|till|around|by|during|between|of)\s+)?(?:the\s+)?(?:(?:early|late|year|mid|summer of|end of)[\s-])?"
    r"(?:\w+(?:-\w+)?\scentury(?:\s(?:ad|ce|bce?))?|[12]\d{3}s?)(?:\s*(?:[-–—]|to|and|until)\s*(?:[12]\d{3}|\d\d|today))?(?=\W|$)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH},?\s|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s|{_MONTH}\s)?"
_YEAR = rf"(?:c(?:a|irca)?\.?\s?)?{_DAY}\d{{3,4}}s?(?:\s?(?:ad|ce|bc|bce))?"
_LIFE = re.compile(
    rf"(?:(?:born|b\.|died|d\.|lived|published|released|founded|completed|built|established|from|in|since|as of|aired)\s)*"
    rf"{_YEAR}(?:\s?(?:[-–—]|to|until)\s?(?:{_YEAR}|\d\d|present|today))?",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    rf"(?:as of (?:the )?)?{_YEAR}(?: (?:census|estimate|data|figures?|count|est\.))|as of (?:the )?{_YEAR}(?: census)?"
    rf"|(?:census|estimate|as) of {_YEAR}",
    re.IGNORECASE,
)
_BY = re.compile(
    rf"(?:^|\s)by\s+(?:the\s+)?(?:(?:{_NATION})\s+)?(?:{_LOW}\s+){{0,2}}{_NAME}(?:\s+and\s+{_NAME})?(?=\W|$)"
)
_CLAUSE = re.compile(
    rf"(?<={ANSWER})(?P<marks>[*_\"'”’]*)(?:\s*,\s*|\s+[-–—]\s*|\s*—\s*|\s*(?P<open>[(\[])\s*)(?P<clause>[^;()\[\]?]{{2,160}}?)(?(open)\s*[)\]])"
    rf"(?P<rest>[.!]?\s*$|[.!]\s+.*$|(?(open)[\s,].*$|(?!)))",
    re.DOTALL,
)
_DIRECTLY = re.compile(
    rf"{ANSWER}(?P<marks>[*_\"']*)\s(?=(?:in|on|near|at)\s(?:the\s|southern\s|northern\s)?[A-Z][^,.?!]*[.!]?$)"
)
_AUTHOR = re.compile(
    rf"(?<={ANSWER})(?P<marks>[*_\"'”’]*),?\s*\(?by\s+(?:the\s+)?{_NAME}\)?(?=[.!]?\s*$)"
)
_SUBTITLE = re.compile(
    rf"(?<={ANSWER});\s?or,\s(?:The|A|An)\s[A-Z][^,;.?!]{{1,40}}(?=[.!]?[\"'*_]*\s*$)"
)
_RELATIVE = frozenset("who which whose where whom".split())  # noqa: SIM905
_OPENING = frozenset(
    "famous home popular located situated named capital birthplace".split()  # noqa: SIM905
)
# Words that say that the answer holds no more, or is not the answer's own doing.
UNDOING = frozenset(
    """
    former formerly previous previously once until till dispute disputed disputes replaced abandoned superseded
    succeeded copied stole stolen plagiarised plagiarized helped assisted falsely wrongly pretended fictional
    """.split()  # noqa: SIM905
)
_PARTICIPLES = frozenset(
    """
    born built made found held won set given taken shown drawn grown flown sung led sold sent begun written known sunk
    bought brought taught kept left lost seen worn spoken chosen
    """.split()  # noqa: SIM905
)
_TIMED = frozenset("when year date century decade".split())  # noqa: SIM905
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,.]*(?:%|\b)(?<![.,])")
_REMARKS = re.compile(
    rf"(?P<head>[^{ANSWER}]*{ANSWER}[^.!?{ANSWER}]*[.!][*_\"']*\s+)(?P<rest>[^{ANSWER}?]+)$",
    re.DOTALL,
)
_SIZE = re.compile(
    r"(?:(?:at|about|around|with|height|length|elevation)\s)*it\s?(?:k?m|cm|mm|ft|feet|metres|meters|kilometres|kilometers|miles"
    r"|kg|km²|°[CF])(?:\s(?:above sea level|tall|high|long|deep|wide))?"
)
_FORMULA = re.compile(r"(?=.*[\d₀-₉])(?:[A-Z][a-z]?[\d₀-₉]{0,2}){1,4}|[A-Z][a-z]?")
_SUBSTANCES = frozenset(
    """
    gas element metal compound substance molecule chemical liquid acid salt
    """.split()  # noqa: SIM905
)
_SCORE = re.compile(r"\d\s?[-–:]\s?\d")
_MOST_CHARS = 300


def without_clauses(masked: str, asked: Asked, aliases: tuple[tuple[str, ...], ...]) -> str:
    """`masked` without the clauses behind its one answer that can be no second candidate; else as it was."""
    text = " ".join(plain(masked).split())
    if text.count(ANSWER) != 1 or len(text) > _MOST_CHARS:
        return masked
    if _WORKS.intersection(asked.row) and not asks_person(asked):
        text = _AUTHOR.sub(r"\g<marks>", _SUBTITLE.sub("", text))
    answer = frozenset(word for alias in aliases for word in alias)
    if asks_place(asked):
        text = _DIRECTLY.sub(rf"{ANSWER}\g<marks>, ", text)
    for _ in range(2):
        found = _CLAUSE.search(text)
        if found is None:
            break
        left = _left_of(found["clause"].strip(), bool(found["open"]), asked, answer, aliases)
        if left is None:
            break
        head = text[: found.start()] + found["marks"]
        if left:
            text = f"{head}. {left}{found['rest']}"
            break
        text = head + found["rest"]
    return text


def without_details(masked: str, asked: Asked, aliases: tuple[tuple[str, ...], ...]) -> str:
    """`masked` without the years, places and numbers of the sentences behind the one that has the answer."""
    found = _REMARKS.match(masked)
    if found is None or len(masked) > _MOST_CHARS:
        return masked
    answer = frozenset(word for alias in aliases for word in alias)
    return found["head"] + _without_names(found["rest"], asked, answer)


def _without_names(text: str, asked: Asked, answer: frozenset[str]) -> str:
    """`text` without the years, numbers, larger places and authors that can be no answer to the question."""
    if _TIMED.isdisjoint(asked.row) and not any(re.search(r"\d", word) for word in answer):
        text = _YEARS.sub("", text)
        if "how" not in asked.row:
            text = _NUMBER.sub("it", text)
    if not asks_person(asked) and not asks_place(asked):
        text = _BY.sub("", text)
    return _without_places(text, asked, answer)


def _without_places(text: str, asked: Asked, answer: frozenset[str]) -> str:
    """`text` without the places that can be no answer: what it is near to, those of another kind, and larger ones."""

    def drop(match: re.Match[str]) -> str:
        words = frozenset(re.findall(r"[a-z]+", match["name"].lower()))
        if match["near"] or (match["kind"] and not _asks_kind(match["kind"], asked)):
            fits = not words & (asked.options | answer)
        else:
            fits = is_beside(match["name"], bool(match["the"]), asked, answer)
        return "" if fits else match[0]

    return _PLACED.sub(drop, text)


def _asks_kind(kind: str, asked: Asked) -> bool:
    """Return True if a question may want a place of a kind."""
    cities = kind in ("city", "town", "village") and not {"city", "town", "capital"}.isdisjoint(
        asked.row
    )
    return cities or kind in asked.row or "where" in asked.row


def _is_code(clause: str, asked: Asked, aliases: tuple[tuple[str, ...], ...]) -> bool:
    """Return True if brackets hold letters for the answer: its initials, a formula, a person's party."""
    if clause.isupper() and any(
        clause.lower() == "".join(word[0] for word in alias) for alias in aliases if len(alias) > 1
    ):
        return True  # "World Health Organization (WHO)"
    if min(len("".join(alias)) for alias in aliases) < 4:
        return False
    if _FORMULA.fullmatch(clause):
        return not _SUBSTANCES.isdisjoint(asked.row)
    return asks_person(asked) and re.fullmatch(r"[A-Z]{2,5}", clause) is not None


def _left_of(
    clause: str,
    in_brackets: bool,
    asked: Asked,
    answer: frozenset[str],
    aliases: tuple[tuple[str, ...], ...],
) -> str | None:
    """The rest of a clause to read as a sentence, perhaps empty; None if it may be another answer."""
    timed = not _TIMED.isdisjoint(asked.row)
    counts = _WORKS.isdisjoint(asked.row) and any(
        len(alias) == 1 and alias[0][:1].isdigit() for alias in aliases
    )
    words = {word.lower() for word in re.findall(r"[^\W\d_]+", clause)}
    if in_brackets:
        if _COUNTED.fullmatch(clause):
            return ""
        if _LIFE.fullmatch(clause):
            return None if timed or counts else ""
        if _is_code(clause, asked, aliases):
            return ""
    if words & (asked.options | UNDOING) or _SCORE.search(clause):
        return None
    if "whose" in words and not words.isdisjoint(SAYS):
        return None  # "Jane Austen, whose brother wrote it"
    bare = _BARE.match(clause)
    if bare:
        names = [one for one in (bare["name"], bare["more"]) if one]
        known = all(_is_known_place(one, bool(bare["the"]), asked, answer) for one in names)
        return "" if known else None
    if clause[:1].isdigit() and any(alias and alias[0][:1].isdigit() for alias in aliases):
        return None  # "1984, 1985"
    whole = clause
    if not timed and not counts:
        clause = _YEARS.sub("", clause)
    if not timed and "how" not in asked.row and not any(re.search(r"\d", word) for word in answer):
        clause = _NUMBER.sub("it", clause)  # no number is asked for
    words = {word.lower() for word in re.findall(r"[^\W\d_]+", clause)}
    if words & DENYING_WORDS - {"also"}:
        return None
    clause = _without_places(clause, asked, answer).strip(" ,")
    if _SIZE.fullmatch(clause):
        return ""
    if not asks_person(asked) and not asks_place(asked):
        clause = _BY.sub("", clause)
    clause = _BEING.sub("", clause)
    owner = _OWNED.match(clause)
    if owner and owner[1].lower() in asked.capital:
        clause = f"the {clause[owner.end() :]}"  # "Oslo, Norway's largest city"
    sort = _SORT.match(clause)
    if sort and _is_of_sort(sort["sort"], sort[0], asked):
        clause = clause[sort.end() :].strip(" ,")
        if clause and clause.split()[0].lower() not in _RELATIVE:
            clause = f"It is {clause}"
    if not clause:
        return ""
    first = clause.split()[0].lower()
    participle = (first.endswith("ed") and len(first) > 4) or first in _PARTICIPLES
    if participle and clause.lower() == first and clause != whole:
        return ""
    if first in _RELATIVE:
        said = [
            word for word in clause.split()[1:] if word not in ("was", "is", "were", "has", "been")
        ]
        if len(said) == 1 and (said[0].endswith("ed") or said[0] in _PARTICIPLES):
            return ""  # "which opened", after its year is gone
        return re.sub(r"^(\w+) also\b", r"\1", clause)
    if first in ("it", "because", "since", "a", "an"):
        return clause
    return f"It is {clause}" if participle or first == "with" or first in _OPENING else None


def _is_known_place(name: str, has_the: bool, asked: Asked, answer: frozenset[str]) -> bool:
    """Return True if a name that stands alone behind the answer is a larger place: "@, Spain"; not "@, Texas"."""
    fits = asks_place(asked) or is_large(name)
    return fits and is_beside(name, has_the, asked, answer)


def _is_of_sort(sort: str, phrase: str, asked: Asked) -> bool:
    """Return True if a sort of thing or person fits what the question asks for."""
    one = sort if sort in THINGS | PEOPLE else sort.removesuffix("s")
    nations = NATIONS & asked.capital
    said = {word.lower() for word in re.findall(r"[A-Za-z]+", phrase)} & NATIONS
    if nations and said - nations:
        return False
    if one in PEOPLE:
        return asks_person(asked) or not (asks_place(asked) or THINGS.intersection(asked.row))
    return not asks_person(asked)
