"""Numbers, dates and yes or no, as people write them in short answers.

Each reader gives one value or None; where a text holds two values it gives None, so that nobody is
paid for listing them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

_NUMBER = re.compile(
    r"(?<![\w.,])([-+−]?)\s?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)"
    r"(?:\s?[eE]([-+]?\d{1,3})|\s?[×x*]\s?10\s?\^\s?\{?([-+−]?\d{1,3})\}?)?(?![\d])",
    re.ASCII,
)
_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "million": 6,
    "millions": 6,
    "m": 6,
    "mn": 6,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
    "tn": 12,
}
_LETTER_SCALES = frozenset({"k", "m", "b"})
_UNITS_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = _TENS_WORDS.split()
_WORDS = {word: i for i, word in enumerate(_UNITS_WORDS.split())}
_WORDS.update({word: 10 * i for i, word in enumerate(_TENS, 2)})

_WORD_SCALES = ("thousand", "million", "billion", "trillion")
_ONE_WORD = "|".join([*_WORDS, "hundred", *_WORD_SCALES])
_NUMBER_WORDS = re.compile(
    rf"\b(?:{_ONE_WORD})(?:(?:\s+and)?[\s-]+(?:{_ONE_WORD}))*\b", re.IGNORECASE
)
_SCALE_BEHIND = re.compile(
    r"\s?(hundred|thousand|millions?|billions?|trillion|mn|bn|tn)\b|(?:(?<=\d)([kmb])\b)",
    re.IGNORECASE,
)
_PERCENT_BEHIND = re.compile(r"\s?(?:%|per\s?cent\b)", re.IGNORECASE)

MONTHS = {
    name: i
    for i, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_WEEKDAYS = re.compile(
    r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?,?\s*"
)
_ISO = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?", re.ASCII)
_NUMERIC = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", re.ASCII)
_DAY_MONTH = re.compile(
    r"(?:the\s)?(\d{1,2})(?:st|nd|rd|th)?\s(?:of\s)?([a-z]{3,9})\.?,?\s(\d{4})", re.ASCII
)
_MONTH_DAY = re.compile(
    r"([a-z]{3,9})\.?\s(?:the\s)?(\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})", re.ASCII
)
_YEAR_DAY = re.compile(r"(\d{4}),?\s(?:on\s)?(?=[a-z\d])([a-z\d .]{5,25})", re.ASCII)
_MONTH_YEAR = re.compile(r"([a-z]{3,9})\.?,?\s(?:of\s)?(\d{4})", re.ASCII)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?,?\s+(?:the\s)?"
_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_ANY_DATE = re.compile(
    rf"(?<![\w/-])(?:{_DAY})?(?:"
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH},?\s\d{{4}}"
    rf"|\d{{4}},?\s(?:on\s)?(?:{_DAY})?(?:(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}"
    rf"|{_MONTH}\s(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?)(?!,?\s\d{{4}})"
    rf"|{_MONTH}\s(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}"
    rf"|{_MONTH},?\s(?:of\s)?\d{{4}})(?![\w/-]|[.,]\d)",
    re.ASCII,
)
_ANY_YEAR = re.compile(r"(?<![\w.,/-])\d{4}(?![\w/-]|[.,]\d)", re.ASCII)


@dataclass(frozen=True)
class Number:
    """A number and the words that stand around it."""

    value: Decimal
    percent: bool
    around: tuple[str, ...]


def read_number(text: str) -> Number | None:
    """Return the one number in `text`, with thousands commas, exponents, scale words and percent read."""
    text = text.replace("−", "-")
    matches = list(_NUMBER.finditer(text))
    if len(matches) > 1:
        return None
    if not matches:
        return _in_words(text)
    match = matches[0]
    sign, digits, exponent, power = match.groups()
    try:
        value = Decimal(digits.replace(",", "")).scaleb(int(exponent or power or 0))
    except (InvalidOperation, ValueError):
        return None
    before = re.findall(r"[^\W\d_]+|[^\s\w.,;:()]", text[: match.start()])
    after = re.findall(r"[^\W_]+|[^\s\w.,;:()]", text[match.end() :])
    if after and after[0].lower() in _SCALES:
        letter = after[0].lower() in _LETTER_SCALES
        # "5 m" is metres, "5M" and "5 million" are not.
        if not letter or text[match.end() : match.end() + 1].isalpha():
            value = value.scaleb(_SCALES[after[0].lower()])
            after = after[1:]
    if after and after[0].isdigit():
        return None
    percent = bool(after) and after[0].lower() in ("%", "percent")
    if percent:
        after = after[1:]
    if sign == "-" or sign == "−":
        value = -value
    return Number(value, percent, tuple(word.lower() for word in (*before, *after)))


def _in_words(text: str) -> Number | None:
    """The one number in English words in `text`."""
    found = _worded(text.lower())
    if len(found) != 1:
        return None
    start, end, number = found[0]
    if number is None:
        return None
    around = re.findall(r"[^\W\d_]+|[^\s\w.,;:()-]", f"{text[:start]} {text[end:]}".lower())
    return Number(number.value, number.percent, tuple(around))


def numbers_in(text: str, *, letter_scales: bool = True) -> list[tuple[int, int, Number | None]]:
    """Return the start and end of each number in `text`, in digits or words; None for one that cannot be read.

    `letter_scales`: "5m" is five million; else the letter is left, since it may be a unit.
    """
    found: list[tuple[int, int, Number | None]] = []
    for match in _NUMBER.finditer(text):
        sign, digits, exponent, power = match.groups()
        value = Decimal(digits.replace(",", "")).scaleb(int(exponent or power or 0))
        end = match.end()
        scale = _SCALE_BEHIND.match(text, end)
        if scale and (scale[1] or letter_scales):
            value, end = value.scaleb(_SCALES[(scale[1] or scale[2]).lower()]), scale.end()
        percent = _PERCENT_BEHIND.match(text, end)
        end = percent.end() if percent else end
        found.append(
            (
                match.start(),
                end,
                Number(-value if sign in "-−" and sign else value, bool(percent), ()),
            )
        )
    in_digits = [(start, end) for start, end, _ in found]
    for mention in _worded(text.lower()):  # the "million" of "5 million" is read already
        if not any(start <= mention[0] and mention[1] <= end for start, end in in_digits):
            found.append(mention)
    return sorted(found, key=lambda mention: mention[:2])


def _worded(low: str) -> list[tuple[int, int, Number | None]]:
    found: list[tuple[int, int, Number | None]] = []
    for match in _NUMBER_WORDS.finditer(low):
        value = words_value(re.split(r"[\s-]+", match[0]))
        percent = _PERCENT_BEHIND.match(low, match.end())
        number = None if value is None else Number(value, bool(percent), ())
        found.append((match.start(), percent.end() if percent else match.end(), number))
    return found


def words_value(words: Sequence[str]) -> Decimal | None:
    """Return the whole number that English words name; None if they name none or several."""
    total = group = 0
    lowest = 10**15
    last = ""
    for i, word in enumerate(words):
        if word == "and":
            if last not in ("hundred", "thousand", "million", "billion", "trillion"):
                return None
            continue
        if word == "hundred":
            if not 0 < group < 100 or last in ("hundred", ""):
                return None
            group *= 100
        elif word in _WORD_SCALES:
            size = 10 ** _SCALES[word]
            if not group or size >= lowest:
                return None
            total, group, lowest = total + group * size, 0, size
        else:
            step = _WORDS[word]
            unit_after_tens = last in _TENS and 0 < step < 10
            if i and not unit_after_tens and last not in ("hundred", *_WORD_SCALES):
                return None  # "five six": two numbers
            if i and step == 0:
                return None
            group += step
        last = word
    return Decimal(total + group)


_MOVING_WORDS = (
    r"\b(since|by|before|after|until|till|around|about|circa|ca?\.|from|to|prior|following|approximately|roughly"
    r"|later|earlier|almost|nearly|near|towards?|between|past|starting|beginning|least|most|than)"
)
_MOVED = re.compile(_MOVING_WORDS + r"(?!\w)")
_MOVING = re.compile(_MOVING_WORDS + r"(?:\s(?:to|than|in|on|at|the|of|early|late|year)){0,3}\s$")


def moves_date(text: str, question: AbstractSet[str]) -> bool:
    """Return True if a word before a date, such as "since" or "before", changes the date meant, and the question lacks it."""
    low = text.lower()
    if not _MOVED.search(low):
        return False  # the cheap look first
    for start, _, _ in dates_in(low, None, True):
        match = _MOVING.search(low[max(start - 60, 0) : start])
        if match and match[1].rstrip(".") not in question:
            return True
    return False


def dates_in(
    text: str, day_first: bool | None, years: bool
) -> list[tuple[int, int, tuple[int, ...] | None]]:
    """Return the start, end and value of each date in `text`; a year alone only with `years`.

    None for one that is no date or may be two.
    """
    low = text.lower()
    found: list[tuple[int, int, tuple[int, ...] | None]] = []
    for pattern in (_ANY_DATE, _ANY_YEAR) if years else (_ANY_DATE,):
        for match in pattern.finditer(low):
            if not any(start < match.end() and match.start() < end for start, end, _ in found):
                found.append((match.start(), match.end(), read_date(match[0], day_first)))
    return sorted(found, key=lambda mention: mention[:2])


def read_date(text: str, day_first: bool | None) -> tuple[int, ...] | None:
    """Return year, perhaps month, perhaps day; None if `text` is no date or may be two.

    `03/04/2020` is read only where `day_first` says how, or where one number cannot be a month; `3.4.2020` has the day first.
    """
    text = " ".join(text.lower().replace(",", ", ").split()).rstrip(".")
    text = _WEEKDAYS.sub("", text)
    text = re.sub(r"^(?:on|in|since|during)\s", "", text).replace(" ,", ",")
    if match := _ISO.fullmatch(text):
        return _checked(*(int(part) for part in match.groups() if part))
    if match := _NUMERIC.fullmatch(text):
        first, second, year = map(int, match.groups())
        if first == second or second > 12:
            return _checked(year, first, second)
        if first > 12 or day_first is True or (day_first is None and "." in text):
            return _checked(year, second, first)
        return _checked(year, first, second) if day_first is False else None
    if match := _DAY_MONTH.fullmatch(text):
        return _named(match[3], match[2], match[1])
    if match := _MONTH_DAY.fullmatch(text):
        return _named(match[3], match[1], match[2])
    if match := _MONTH_YEAR.fullmatch(text):
        return _named(match[2], match[1], None)
    if match := _YEAR_DAY.fullmatch(text):
        day = f"{_WEEKDAYS.sub('', match[2])} {match[1]}"
        if match := _DAY_MONTH.fullmatch(day):
            return _named(match[3], match[2], match[1])
        if match := _MONTH_DAY.fullmatch(day):
            return _named(match[3], match[1], match[2])
    return None


def is_day(day: tuple[int, ...], wanted: Sequence[tuple[int, ...]]) -> bool:
    """Return True if a date is one of `wanted`, or lies in one; not in a year if `wanted` has its day, too."""
    finer = [one for one in wanted if len(one) == len(day)]
    return day in finer if finer else any(day[: len(one)] == one for one in wanted)


def _named(year: str, month: str, day: str | None) -> tuple[int, ...] | None:
    if month not in MONTHS:
        return None
    return _checked(int(year), MONTHS[month], *([int(day)] if day else []))


def _checked(year: int, month: int | None = None, day: int | None = None) -> tuple[int, ...] | None:
    parts = tuple(part for part in (year, month, day) if part is not None)
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return None
    return parts


_YES = frozenset({"yes", "yeah", "yep", "true", "correct", "y"})
_NO = frozenset({"no", "nope", "false", "incorrect", "n"})
_LINKS = frozenset({"is", "isnt", "was", "would", "wasnt"})
_DENIALS = frozenset({"not", "wrong", "incorrect", "false", "right", "correct", "true", "untrue"})
_WRONG = frozenset({"wrong", "incorrect", "false", "untrue", "mistaken"})
_NEGATIVE = frozenset(
    """
    not never isnt wasnt arent werent dont doesnt didnt cant cannot wont wouldnt couldnt hasnt havent hadnt
    aint nor neither none hardly barely
    """.split()  # noqa: SIM905
)
_TURNING = frozenset(
    ["but", "however", "unless", "except", "although", "though", "if", "otherwise", "and", "or"]
)
_NO_ANSWERS = frozenset(
    """
    doubt question way problem wrong matter idea one answer clue comment information evidence data response
    """.split()  # noqa: SIM905
)
# What takes back a "yes" or a "no", and what only a "no" can stand before.
_TAKING_BACK = frozenset("kidding joking joke scratch wait lie lying sarcastic sarcasm nah".split())  # noqa: SIM905
_AGAINST_YES = frozenset(
    """
    opposite contrary mistake misconception myth lie unfortunately impossible fake hoax unable fails
    """.split()  # noqa: SIM905
)
_SAYING = frozenset(
    """
    well easily often always really very surely sure obviously clearly too
    it is was are were do does did has have had can could will would he she they we i that this its thats
    there these those indeed of course certainly definitely right correct true answer
    """.split()  # noqa: SIM905
)


_OF_THE_WORD = frozenset("is was would the my final answer correct right true be".split())  # noqa: SIM905
_AUXILIARIES = frozenset(
    """
    is are was were do does did has have had can could will would should must
    """.split()  # noqa: SIM905
)
_QUANTITIES = frozenset(
    """
    all most many some everyone everybody people both each every any part some them us those these one
    absolutely
    """.split()  # noqa: SIM905
)


def _speaks_of(words: Sequence[str]) -> bool:
    """Return True if a reply speaks of the word yes or no: "yes is what they say"; "yes is the answer" gives it."""
    return (
        words[1:2] != []
        and words[1] in _LINKS | _AUXILIARIES
        and not _OF_THE_WORD.issuperset(words[1:])
    )


def _names_another(rest: Sequence[str], question: AbstractSet[str]) -> bool:
    """Return True if what follows a "yes" says it of something else, and nothing more: "Lyon is", "Lyon is the capital"."""
    at = next((i for i, word in enumerate(rest) if word in _AUXILIARIES), 0)
    subject = rest[:at]
    said = _SAYING | _QUANTITIES | question
    if not subject or said.intersection(subject) or all(word.endswith("ly") for word in subject):
        return False
    return all(word in _SAYING or word in question or word in _FUNCTIONAL for word in rest[at:])


_FUNCTIONAL = frozenset("a an of in on at to for by from with as".split())  # noqa: SIM905


def is_yes_or_no(words: Sequence[str]) -> bool:
    """Return True if an answer is the one word yes or no, or another of the same meaning."""
    return len(words) == 1 and words[0] in _YES | _NO


def read_yes_no(words: Sequence[str], question: AbstractSet[str] = frozenset()) -> bool | None:
    """Return True or False by the first word, where the rest agrees with it; else None.

    What denies the first word itself ("yes is wrong", "no is not right") is neither, nor is "yes, it is
    not" or "no, it is": `question` has the words that a "no" may only repeat with a negation.
    """
    if not words or words[0] not in _YES | _NO:
        return None
    yes = words[0] in _YES
    rest = words[1:]
    while rest[:1] == words[:1]:  # "no, no, it does"
        rest = rest[1:]
    if len(words) > 2 and words[1] in _LINKS and _DENIALS.intersection(words[2:]):
        return None
    if set(rest) & (_NO if yes else _YES - {"correct", "true"}):
        return None
    if _speaks_of(words) or (yes and _names_another(rest, question)):
        return None
    asked = question & (_NEGATIVE | _TURNING)
    denied = _NEGATIVE.intersection(rest) - asked
    if denied and words[0] in rest:
        return None
    if (_TAKING_BACK | (_AGAINST_YES if yes else frozenset())).intersection(rest) - question:
        return None
    if yes and (denied or _WRONG.intersection(rest) - question):
        return None
    # A clause behind "no" that repeats the question says yes.
    if not yes and rest:
        if rest[0] in _NO_ANSWERS or (_WRONG.intersection(rest) and not denied):
            return None
        if not denied and all(word in _SAYING or word in question for word in rest):
            return None
    return None if _TURNING.intersection(rest) - asked - question else yes
