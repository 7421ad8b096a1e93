"""Finds the letters that a question uses as variables, and whether it asks for a measure: "2m" is 2 times m, or 2 metres."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_MOST_CHARS = 4000
_LETTER = r"\$?\s*([A-Za-z])(?![A-Za-z])\s*\$?"
_NAMES = lazy_pattern(
    rf"\b(?:in terms of|terms of|as an? function of|depending on|with respect to|respect to|let|where|for|variables?|constants?|"
    rf"suppose|denote(?:d by)?|given|mass|length|height|width|radius|time|speed|velocity|acceleration|force|"
    rf"side|area|volume|distance|unknowns?|parameters?|number)\s+(?:only |the |both )?{_LETTER}(?:(?:\s*,\s*|\s*,?\s*and\s+){_LETTER})?"
    rf"(?:(?:\s*,\s*|\s*,?\s*and\s+){_LETTER})?"
)
_IN_TEX = lazy_pattern(
    r"\$\$?([^$]{1,400})\$\$?|\\\((.{1,400}?)\\\)|\\\[(.{1,400}?)\\\]", re.DOTALL, needs="$|\\(|\\["
)
_WORDS = lazy_pattern(
    r"\\(?:text|mathrm|operatorname|mbox|textbf)\s*\{[^{}]*\}|\\[A-Za-z]+|[A-Za-z]{4,}"
)
_ALONE = lazy_pattern(
    r"(?<![A-Za-z\d.\s])\s*([A-Za-z])(?![A-Za-z])|^\s*([A-Za-z])(?![A-Za-z])|([A-Za-z])(?=\s*[=^+*/<>_-])"
)
_IN_SUM = lazy_pattern(
    r"(?<![A-Za-z])\d*([A-Za-z])\s*[-+*=/^]\s*\d*([A-Za-z])(?![A-Za-z])", needs="*|+|-|/|=|^"
)
_TERMS = lazy_pattern(r"\b(?:terms|function) of\b", re.IGNORECASE, needs="function|terms")
_MEASURE = lazy_pattern(
    r"\b(?:how (?:long|far|fast|tall|high|wide|deep|heavy|old|hot|cold|large|big|much)|lengths?|distances?|heights?|widths?|"
    r"depths?|speeds?|velocity|accelerat\w+|mass(?:es)?|weights?|weighs?|forces?|tension|energy|work|power|voltage|current|charge|"
    r"resistance|pressure|temperature|times?|duration|area|volume|capacity|perimeter|radius|diameter|circumference|"
    r"frequency|period|convert|units?|measure|seconds?|minutes?|hours?|days?|met(?:er|re)s?|grams?|lit(?:er|re)s?|newtons?|"
    r"joules?|watts?|volts?|amp(?:ere)?s?|tesla|coulombs?|kelvin|miles|feet|inches)\b",
    re.IGNORECASE,
)  # fmt: skip


def letters_of(question: str) -> frozenset[str]:
    """The single letters that stand for something in a question; a letter behind a number is a unit."""
    question = question[:_MOST_CHARS]
    found = {letter for match in _NAMES.finditer(question) for letter in match.groups() if letter}
    found |= {letter for match in _IN_SUM.finditer(question) for letter in match.groups() if letter}
    for match in _IN_TEX.finditer(question):
        inside = _WORDS.sub(" ", match[1] or match[2] or match[3] or "")
        found |= {letter for one in _ALONE.finditer(inside) for letter in one.groups() if letter}
    return frozenset(found - {"a", "I"}) if "terms of a" not in question else frozenset(found)


def asks_measure(question: str) -> bool:
    """Return True if a question is about something that is measured in units."""
    question = question[:_MOST_CHARS]
    return bool(_MEASURE.search(question)) and not _TERMS.search(question)
