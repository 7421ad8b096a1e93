"""Judges a list of items: all of them, no other, in any order unless the question wants one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verigym.canonical import JSON
from verigym.verdict import Verdict, scored, unusable
from verigym.verifiers.qa.asked import has_words, read_question
from verigym.verifiers.qa.commit import hedge_in, undressed
from verigym.verifiers.qa.mark import mark_items
from verigym.verifiers.qa.members import (
    split_items,
    stand_in_order,
    wants_order,
    without_directions,
    without_item_marks,
)
from verigym.verifiers.qa.names import spellings
from verigym.verifiers.qa.normalise import signs, tokens
from verigym.verifiers.qa.statement import states
from verigym.verifiers.qa.verdicts import both

_OR = re.compile(r"\b(?:or|versus|vs)\b", re.IGNORECASE)


def judge_list(
    prompt: str, right: Sequence[JSON], answer: str, *, sentence: bool, partly: bool = False
) -> Verdict:
    """Compare the items of a reply with the right ones, each a text or a list of its aliases.

    `sentence`: a sentence may state them. `partly`: pay F1 where they are right in part.
    """
    asked = read_question(prompt)
    answer = without_item_marks(without_directions(answer, prompt))
    items = [
        {
            form
            for alias in map(str, item if isinstance(item, list) else [item])
            for form in (_form(alias), *spellings(alias, asked))
        }
        for item in right
    ]
    alternative = _OR.search(answer)
    if alternative and not any("or" in alias for item in items for alias in item):
        return unusable("several_answers", "give the items, not alternatives")
    given = [_form(undressed(piece)) or _form(piece) for piece in split_items(answer)]
    given = [piece for piece in given if piece]
    if wants_order(prompt) and not stand_in_order(tokens(answer), items):
        return scored(0.0, "wrong_answer", "the items are not all there, in order", both(0.0))
    left = list(items)
    for piece in given:  # an item that is given twice is one too many
        fitting = next((item for item in left if piece in item), None)
        if fitting is not None:
            left.remove(fitting)
    hit = len(items) - len(left)
    extra = len(given) - hit
    precision = (len(given) - extra) / len(given) if given else 0.0
    recall = hit / len(items)
    total = precision + recall
    parts = {"exact": 0.0, "f1": 2 * precision * recall / total if total else 0.0}
    if hit == len(items) and not extra and len(given) == len(items):
        parts["exact"] = 1.0
        return scored(1.0, "correct", "every item is right", parts)
    if sentence and hedge_in(answer) is None:
        masked = mark_items(answer, [[list(alias) for alias in item] for item in items])
        in_question = all(any(has_words(asked, alias) for alias in item) for item in items)
        if masked is not None and states(masked, asked, in_question):
            parts = {"exact": 1.0, "f1": 1.0}
            return scored(1.0, "correct", "every item is right", parts)
    if partly and parts["f1"] > 0:
        return scored(parts["f1"], "partial", "the list is right in part", parts)
    return scored(0.0, "wrong_answer", "items are missing or wrong", parts)


def _form(text: str) -> tuple[str, ...]:
    """The tokens of a text, or its signs if it has no words."""
    return tuple(tokens(text)) or tuple(filter(None, [signs(text)]))
