"""Names that stand in a row with a sentence: "Brigadoon; there were forty-two people", "It was in 1969. or Ultima Thule".

Where a number or a date is asked for, a name is no rival value, but a row of candidates is no answer.
Covers: names at either end of a reply. Does not cover: names between commas that may belong to the sentence
("Armstrong, Aldrin and Collins flew in 1969").
"""

from __future__ import annotations

import re

from verigym.verifiers.qa.asked import QuestionWords
from verigym.verifiers.qa.normalise import tokens

_NAME = r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}"
_FIRST = re.compile(
    rf"\W*(?P<name>{_NAME})(?:\s*[;/\n]\s*|\s+or\s+|,\s+(?=(?:{_NAME},\s+)*(?:There|It|They|He|She|The|This|That|In|On|At)\b))"
)
_LAST = re.compile(rf"[.!]\s*(?:[,;/\n]|,?\s+(?:or|and)\b)\s*(?P<name>{_NAME})\W*\Z")
_OPENERS = frozenset(
    [
        "yes",
        "no",
        "well",
        "sure",
        "okay",
        "ok",
        "so",
        "thus",
        "hence",
        "therefore",
        "indeed",
        "actually",
        "answer",
        "final",
        "result",
        "solution",
        "summary",
        "explanation",
        "short",
        "correct",
        "right",
        "today",
        "yesterday",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "sources",
        "source",
        "note",
        "reference",
        "references",
    ]
)


def has_stranger(answer: str, asked: QuestionWords) -> bool:
    """Return True if a name that the question does not have stands in a row with the rest of the reply."""
    for found in (_FIRST.match(answer), _LAST.search(answer)):
        if found is not None:
            words = tokens(found["name"])
            if words and not any(word in _OPENERS or asked.knows(word) for word in words):
                return True
    return False
