"""Marks the right answer and other values in a reply in sentences, for `claims.py`, by the sort of the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from functools import lru_cache

from verigym.verifiers.qa.abroad import with_english_dates
from verigym.verifiers.qa.abroad_sentences import (
    is_opposite_abroad,
    states_abroad,
    states_in_chinese,
)
from verigym.verifiers.qa.amounts import converted, mark_amounts, measure_behind, units_asked
from verigym.verifiers.qa.asked import QuestionWords, asks_when
from verigym.verifiers.qa.claim_view import OTHER, Sort
from verigym.verifiers.qa.claim_words import PEOPLE
from verigym.verifiers.qa.claims import states_claim
from verigym.verifiers.qa.digits import with_minus
from verigym.verifiers.qa.exonyms import names_abroad
from verigym.verifiers.qa.mark import mark_texts
from verigym.verifiers.qa.members import TALE, without_tale
from verigym.verifiers.qa.moments import Moment, known_moment, moments_in
from verigym.verifiers.qa.names import spellings
from verigym.verifiers.qa.normalise import known_tokens, plain
from verigym.verifiers.qa.persons import is_surname
from verigym.verifiers.qa.places import asks_person, with_demonyms
from verigym.verifiers.qa.reference import known_date, known_number
from verigym.verifiers.qa.sentence_words import ANSWER, GIVEN, MEASURES, without_marks
from verigym.verifiers.qa.sole_candidate import is_sole
from verigym.verifiers.qa.values import MONTHS, dates_in, is_day, is_yes_or_no, numbers_in

_MOST_CHARS = 1_500
_OWN = re.compile(f"[{OTHER}]")
_INITIAL = re.compile(r"(?<=[a-z]{2})\s[A-Z]\.\s(?=[A-Z][a-z])")
_TALLY = re.compile(r":\s*(?:[A-Z]?[a-z]+)(?:(?:, and|,| and)\s[A-Z]?[a-z]+)+[.!]?$")
_SUM = re.compile(rf"[\s×x*·÷/+()−{OTHER}{GIVEN}-]+=\s*(?={ANSWER})")
_SUBTITLE = re.compile(rf"(?<={ANSWER})[\"”’*_]*;\s?or,?\s(?:The|A|An)\s[A-Z][^,;.?!]*")
_DATED = re.compile(r"\([12]\d{3}\)")
_KINDS = frozenset(["city", "country", "state", "planet", "island", "province"])
_BEHIND = re.compile(r"\s?([A-Za-z]+)")
_NOT_THAT = re.compile(
    rf"(?<={ANSWER}),?\s(?:(?:und|et|y|e)\s)?(?:nicht|non|no|pas|niet)\s[A-Z][\w-]+(?=\W*$)"
)
_LONE = re.compile(r"\b(?:one|One)\b")


def says(answer: str, texts: Sequence[str], asked: QuestionWords, day_first: bool | None) -> bool:
    """Return True if a reply in sentences gives one of `texts` as its one answer."""
    if len(answer) > _MOST_CHARS:
        return False
    named = [*texts, *(one for text in texts for one in names_abroad(text))]
    if states_in_chinese(answer, named, asked):
        return True
    if " " not in answer and "°" not in answer:
        return False
    if any(is_yes_or_no(known_tokens(text)) for text in texts):
        return False
    answer = _OWN.sub(" ", without_marks(answer))
    words = frozenset(word for text in texts for word in known_tokens(text))
    dates = [day for text in texts if (day := known_date(text, day_first))]
    if len(dates) == len(texts) and (asks_when(asked) or all(len(day) > 1 for day in dates)):
        masked = _mark_dates(answer, dates, asked, day_first)
        return masked is not None and _states(masked, asked, "value", words)
    if (
        TALE.search(answer)
        and (":" in answer)
        and _TALLY.search(answer)
        and without_tale(answer, asked) == answer
    ):
        return False  # "three: Olga and Masha"
    moments = {moment for text in texts if (moment := known_moment(text))}
    if len(moments) == 1 and all(map(known_moment, texts)):
        masked = _mark_moments(answer, next(iter(moments)), asked)
        return masked is not None and _states(masked, asked, "value", words)
    numbers = [number for text in texts if (number := known_number(text))]
    if len(numbers) == len(texts):
        if not any(one.around or one.percent for one in numbers):
            masked = _mark_numbers(answer, {one.value for one in numbers}, asked)
        else:
            masked = mark_amounts(answer, texts, asked, GIVEN, OTHER)
        bare = {one.value for one in numbers if not one.around and not one.percent}
        if masked is None and bare:
            masked = _mark_numbers(answer, bare, asked)
        if masked is None and any(MONTHS.keys() & {*map(str.lower, one.around)} for one in numbers):
            return _says_text(answer, texts, asked, words)
        return masked is not None and _states(masked, asked, "value", words)
    return _says_text(answer, texts, asked, words)


def _states(masked: str, asked: QuestionWords, sort: Sort, words: frozenset[str]) -> bool:
    masked = _NOT_THAT.sub("", masked)
    if is_opposite_abroad(masked, asked):
        return False
    return (
        states_claim(masked, asked, sort, words)
        or states_abroad(masked, asked, sort)
        or is_sole(masked, asked, sort, words)
    )


def _says_text(
    answer: str, texts: Sequence[str], asked: QuestionWords, words: frozenset[str]
) -> bool:
    aliases = [alias for text in texts for alias in spellings(text, asked)]
    aliases += [
        (*alias[:-1], f"{alias[-1]}{end}")
        for text in texts
        if text.islower() and text.isascii() and text[-1:].isalpha()
        for alias in [known_tokens(text)]
        for end in ("s", "es")
        if len(alias[-1]) > 2
    ]
    aliases = [alias for alias in aliases if alias]
    own = set(map(known_tokens, texts))
    aliases = [one for one in aliases if one in own or one[0] not in _KINDS or one[1:2] == ("of",)]
    held = plain(answer)
    if not any(_INITIAL.search(text) for text in texts):
        held = _INITIAL.sub(" ", held)
    if asks_person(asked) or not PEOPLE.isdisjoint(asked.kinds):
        full = any(plain(one).lower() in held.lower() for one in texts if " " in one)
        aliases += [] if full else [one for text in texts for one in _surnames(text, asked)]
    for last in {alias[-1] for alias in aliases}:
        held = re.sub(rf"(?i)\b({re.escape(last)})['’]s\b", r"\1 's", held)
    if "nationality" in asked.row:
        held = with_demonyms(held, texts)
    masked = mark_texts(held, list(map(list, aliases)))
    if masked is None:
        return False
    low = held.lower()
    bare = [re.sub(r"(?i)^(?:the|an?)\s", "", plain(text)) for text in texts]
    found = [one for one in bare if one and one.lower() in low]
    bare = found or bare
    if held[:1].isupper() and not any(one in held for one in bare):
        small = {one: one[:1].lower() + one[1:] for one in bare}
        bare = [small[one] if small[one] in held else one for one in bare]
    is_noun = any(one[:1].islower() and one == one.lower() for one in bare)
    if not is_noun and found and not any(one in held for one in bare):
        starts = [low.find(one.lower()) for one in bare]
        if not all(held[at : at + 1].isupper() for at in starts):
            return False  # names in small letters cannot be told apart
    masked = _SUBTITLE.sub("", masked)
    return _states(masked, asked, "noun" if is_noun else "name", words)


@lru_cache(maxsize=1024)
def _surnames(name: str, asked: QuestionWords) -> list[tuple[str, ...]]:
    """The tokens of the surname of a person, alone and behind initials, unless the question has it."""
    *given, last = plain(name).split() or [""]
    if not is_surname(last, name) or last.lower() in asked.row:
        return []
    initials = [one[0].lower() for one in given]
    rest = known_tokens(last)
    if len(given) == 2 and len(given[1]) > 3 and given[1][0].isupper():
        return [rest, known_tokens(f"{given[1]} {last}"), (*initials, *rest)]  # "García Márquez"
    return [rest, (*initials, *rest), ("".join(initials), *rest)]


def _masked(text: str, spans: Sequence[tuple[int, int, str]]) -> str | None:
    if not any(mark == ANSWER for _, _, mark in spans):
        return None
    for start, end, mark in sorted(spans, reverse=True):
        text = text[:start] + mark + text[end:]
    return _SUM.sub("", text)


def _mark_dates(
    answer: str, wanted: Sequence[tuple[int, ...]], asked: QuestionWords, day_first: bool | None
) -> str | None:
    text = with_english_dates(plain(answer))
    given = {day for _, _, day in dates_in(" ".join(asked.row), day_first, True)}
    spans = []
    for start, end, day in dates_in(text, day_first, True):
        right = day is not None and is_day(day, wanted)
        vague = day is not None and not right and any(one[: len(day)] == day for one in wanted)
        mark = ANSWER if right else GIVEN if day in given and day is not None else OTHER
        if vague:
            mark = GIVEN
        spans.append((start, end, mark))
    return _masked(text, spans)


def _mark_moments(answer: str, wanted: Moment, asked: QuestionWords) -> str | None:
    given = {moment for _, _, moment in moments_in(" ".join(asked.row))} - {wanted}
    return _masked(
        plain(answer),
        [
            (start, end, ANSWER if one == wanted else GIVEN if one in given else OTHER)
            for start, end, one in moments_in(plain(answer))
            if one[0] == wanted[0]
        ],
    )


def _mark_numbers(answer: str, wanted: AbstractSet[Decimal], asked: QuestionWords) -> str | None:
    text = with_minus(plain(answer))
    given = {one.value for _, _, one in numbers_in(" ".join(asked.row)) if one}
    same = converted(text, wanted)
    asked_units = units_asked(" ".join(asked.row))
    measured = not MEASURES.isdisjoint(asked.row)
    spans = []
    for start, end, one in numbers_in(text, letter_scales=False):
        unit = _BEHIND.match(text, end)
        strays = (
            unit is not None
            and measured
            and unit[1].lower() in MEASURES
            and not asked.knows(unit[1].lower())
        )
        measure, behind = measure_behind(text, end) if asked_units else (None, end)
        if measure is not None:  # "100 °F" is no 100 where degrees Celsius are asked for
            strays = measure not in asked_units
            end = end if strays else behind
        if one is not None and one.value in wanted and not one.percent and not strays:
            mark = ANSWER
        elif _LONE.fullmatch(text[start:end]):
            continue
        elif one is not None and (
            one.value in given or start in same or _DATED.fullmatch(text[start - 1 : end + 1])
        ):
            mark = GIVEN
        else:
            mark = OTHER
        spans.append((start, end, mark))
    return _masked(text, spans)
