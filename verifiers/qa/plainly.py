"""Reads if a reply states one answer, after what rejects another, describes the answer or names its kind is taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.verifiers.qa.asides import without_asides
from verigym.verifiers.qa.asked import Asked
from verigym.verifiers.qa.clauses import without_clauses, without_details
from verigym.verifiers.qa.contrast import without_rejected
from verigym.verifiers.qa.sentence_words import ANSWER
from verigym.verifiers.qa.statement import states

_SAID = re.compile(
    rf"(?:^|[:,;.!–—-]|\b(?:is|was|be|says?|answer|answered))[\s*_\"'“”‘’(]*{ANSWER}[\s*_\"'“”‘’)]*(?:[.,;:!–—-]|$)",
    re.IGNORECASE,
)

_TWICE = re.compile(
    rf"{ANSWER}(?:\s*\((?:or\s|also\s|aka\s|i\.e\.,?\s)?{ANSWER}\)|\s?/\s?{ANSWER}"
    rf"|,?\s\(?(?:(?:also|better|commonly|otherwise)\s(?:known|called)(?:\sas)?|aka|a\.k\.a\.|or)\s(?:the\s)?{ANSWER}\)?)(?![\w-])",
    re.IGNORECASE,
)


def states_plainly(
    masked: str, asked: Asked, answer_is_asked: bool, aliases: Sequence[Sequence[str]]
) -> bool:
    """Return True if the reply, with `ANSWER` for its answer, states that and nothing that may be another answer.

    `answer_is_asked`: the question has the answer's words. `aliases`: the tokens of the right answers.
    """
    masked = _TWICE.sub(
        ANSWER, masked
    )  # "carbon dioxide (CO2)", "Anakin Skywalker, also known as Darth Vader"
    if states(masked, asked, answer_is_asked):
        return True
    known = {masked, " ".join(masked.split())}
    text = without_rejected(masked, asked)
    if text not in known and states(text, asked, answer_is_asked):
        return True
    if answer_is_asked:
        return False
    known.add(text)
    text = without_clauses(text, asked, tuple(map(tuple, aliases)))
    if text not in known and states(text, asked):
        return True
    known.add(text)
    text = without_details(text, asked, tuple(map(tuple, aliases)))
    if text not in known and states(text, asked):
        return True
    known.add(text)
    text = without_asides(text, asked)
    return text not in known and states(text, asked)


def says_yes_or_no(masked: str) -> bool:
    """Return True if the marked yes or no is what is said, and no part of another phrase ("I have no idea")."""
    return _SAID.search(masked) is not None
