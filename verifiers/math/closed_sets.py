"""Answers that are one of few words: days, months, parity, true or false. A last sentence that holds
exactly one of them, without a doubt or a "not", gives it."""

from __future__ import annotations

import re

from verigym.reply import last_answer, spoken
from verigym.verifiers.math.patterns import lazy_pattern

_SETS = (
    "monday/lundi/montag/lunes/星期一 tuesday/mardi/dienstag/martes/星期二 wednesday/mercredi/mittwoch/miércoles/星期三 "
    "thursday/jeudi/donnerstag/jueves/星期四 friday/vendredi/freitag/viernes/星期五 saturday/samedi/samstag/sábado/星期六 "
    "sunday/dimanche/sonntag/domingo/星期日",
    "january/janvier/januar/enero february/février/februar/febrero march/mars/märz/marzo april/avril/abril may/mai/mayo "
    "june/juin/juni/junio july/juillet/juli/julio august/août/agosto september/septembre/septiembre "
    "october/octobre/oktober/octubre november/novembre/noviembre december/décembre/dezember/diciembre",
    "even/gerade/pair/paire/par/pari odd/ungerade/impair/impaire/impar/dispari",
    "true false",
    "converges/convergent diverges/divergent",
    "increasing decreasing",
    "rational irrational",
    "acute right obtuse",
    "scalene isosceles equilateral",
    "quadrantone quadranttwo quadrantthree quadrantfour",
)
_QUADRANTS = tuple(
    (
        lazy_pattern(
            rf"\b(?:(?:{ordinal}) quadrant|quadrant (?:number )?(?:{number}))\b",
            re.IGNORECASE,
            needs="quadrant",
        ),
        lazy_pattern(rf"\W*(?:{number}|{ordinal})\W*", re.IGNORECASE),
        f"quadrant{name}",
    )
    for ordinal, number, name in (
        ("first|1st", "i|1|one", "one"),
        ("second|2nd", "ii|2|two", "two"),
        ("third|3rd", "iii|3|three", "three"),
        ("fourth|4th", "iv|4|four", "four"),
    )
)
"""Quadrants in a text, or alone, and the word that stands for each."""
_NAME_OF = [
    {word: names.split("/")[0] for names in line.split() for word in names.split("/")}
    for line in _SETS
]
_TRIANGLE = lazy_pattern(
    r"(?:an? )?(?P<kind>right|acute|obtuse|scalene|isosceles|equilateral)(?:[- ]angled)?(?: triangle)?",
    re.IGNORECASE,
)
_RIGHT = lazy_pattern(
    r"\bright(?:[- ]angled?\b| triangle\b)(?: triangle\b)?", re.IGNORECASE, needs="right"
)
_DOUBT = lazy_pattern(
    r"\b(?:not|never|no|neither|wrong|incorrect|false(?!$)|almost|nearly|or|if|unless|maybe|perhaps|possibly|probably|might|may be|could|would|either|guess|unsure|"
    r"think|whether|but|only|some|sometimes|partly|partially|mostly|usually|cases?|after|before|until|except|than|"
    r"ou|oder|o|ni|nicht|pas)\b|n't\b|\?",
    re.IGNORECASE,
)
_SENTENCE = lazy_pattern(r"(?<=[^\d\s.])[.!]\s+|\n+")
_WORD = lazy_pattern(r"[^\W\d_]+")


def word_in_last_sentence(gold: str, reply: str, committed: str, question: str = "") -> bool:
    """Return True if a one-word reference is the only one of its set in the last sentence of a reply.

    After an equal sign or a colon only the rest is read: "Wednesday + 3 days = Saturday". `committed` is
    the answer that the reply commits itself to elsewhere, in a box perhaps; it must not name another.
    """
    if "uadrant" in question:
        gold, reply, committed = map(_with_quadrants, (gold, reply, committed))
    if (kind := _TRIANGLE.fullmatch(gold)) is not None:
        gold = kind["kind"]
        reply, committed = (_RIGHT.sub("right", text) for text in (reply, committed))
    name = gold.strip().strip(".$").lower()
    known = next((names for names in _NAME_OF if name in names), None)
    if known is None:
        return False
    text = spoken(reply[-4000:])
    tagged = last_answer(text)
    sentences = [s for s in _SENTENCE.split(text if tagged is None else tagged) if _WORD.search(s)]
    if not sentences:
        return False
    last = _named_end(sentences[-1], known)
    if any(
        word in other
        for other in _NAME_OF
        if other is not known and not (known is _NAME_OF[0] and other is _NAME_OF[1])
        for word in _WORD.findall(last)
    ):
        return False
    if not _members(_named_end(committed, known), known) <= {known[name]}:
        return False
    return _members(last, known) == {known[name]} and not _DOUBT.search(last)


def _with_quadrants(text: str) -> str:
    """A text with "quadrant IV" and "fourth quadrant", or "IV" alone, as one word."""
    text = re.sub(r"[*$]|\\text(?=\{)", "", text)
    if "between" in text:
        return text
    for named, alone, name in _QUADRANTS:
        text = name if alone.fullmatch(text) else named.sub(name, text)
    return text


def _named_end(text: str, known: dict[str, str]) -> str:
    """Return the text behind the last equal sign or colon, or in front of it if only that names a word of the set."""
    parts = re.split(r"[=:]", text.lower())
    return next((part for part in reversed(parts) if _members(part, known)), parts[-1])


def _members(text: str, known: dict[str, str]) -> set[str]:
    said = {known[word] for word in _WORD.findall(text) if word in known}
    return said | {own for word, own in known.items() if not word.isascii() and word in text}
