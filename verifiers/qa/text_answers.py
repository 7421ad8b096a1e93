"""Judges an answer that is a text: in the words of an alias, in a sentence, by value, or as another spelling of a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from verigym.canonical import JSON
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifiers.qa.amounts import (
    CURRENCY_SIGNS,
    currencies_in,
    is_asked_unit,
    mark_amount,
    money_words,
)
from verigym.verifiers.qa.asked import (
    asks_when,
    asks_whether,
    has_words,
    read_question,
    repeats_question,
)
from verigym.verifiers.qa.claim_marks import says
from verigym.verifiers.qa.commit import NEGATIONS, pieces, question_words, unframed
from verigym.verifiers.qa.date_answers import judge_date
from verigym.verifiers.qa.lists import judge_list
from verigym.verifiers.qa.mark import mark_texts, once, says_yes_or_no, states_unspaced
from verigym.verifiers.qa.members import members, without_tale
from verigym.verifiers.qa.names import in_usual_order, is_pair_turned, spellings
from verigym.verifiers.qa.normalise import f1, known_tokens, tokens
from verigym.verifiers.qa.number_answers import read_stated_number
from verigym.verifiers.qa.params import AnswerParams
from verigym.verifiers.qa.persons import is_same_person, is_surname
from verigym.verifiers.qa.places import asks_person
from verigym.verifiers.qa.reference import known_date, known_number
from verigym.verifiers.qa.roles import has_role
from verigym.verifiers.qa.statement import states
from verigym.verifiers.qa.values import is_yes_or_no, read_number, read_yes_no
from verigym.verifiers.qa.verdicts import exact
from verigym.verifiers.qa.yes_no import yes_or_no

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NUMBERS = re.compile(rf"{_NUMBER.pattern}(?:\s*[,;]\s*{_NUMBER.pattern})+")


def judge_text(
    task: Task,
    right: Sequence[JSON],
    aliases: Sequence[list[str]],
    answer: str,
    words: list[str],
    params: AnswerParams,
) -> Verdict:
    """Score 1 if the answer is one of the right texts, says the same or has the same value; else 0, or F1.

    `aliases` are the words of the right texts, `words` those of the answer.
    """
    body = words
    is_right = words in aliases
    if is_right:
        return exact(True)
    asked = read_question(task.prompt)
    truths = {read_yes_no(alias) for alias in aliases if is_yes_or_no(alias)}
    if truths and asks_whether(asked):
        is_right = yes_or_no(asked, answer, words) in truths
    elif params.sentence:
        body = unframed(words, question_words(task.prompt)) or words
        is_right = _states_text(task, right, aliases, answer, words, params) or _is_named(
            task, right, answer, words, params
        )
    best = 1.0 if is_right else max(f1(body, alias) for alias in aliases)
    parts = {"exact": float(is_right), "f1": best}
    if is_right:
        return scored(1.0, "correct", "the answer is right", parts)
    listed = [tokens(piece) for piece in pieces(answer)]
    if len(listed) > 1 and any(piece in aliases for piece in listed):
        return unusable("several_answers", "give one answer, not a list of candidates")
    denied = NEGATIONS.intersection(body).difference(*aliases)
    if params.score == "f1" and best > 0 and len(listed) == 1 and not denied:
        return scored(best, "partial", "the answer is right in part", parts)
    if len(listed) > 1 or denied:
        parts["f1"] = 0.0
    return scored(0.0, "wrong_answer", "the answer is not one of the right ones", parts)


def changes_numbers(right: Sequence[JSON], answer: str) -> bool:
    """Return True if the right texts are lists of numbers, and the reply holds others, more or in another order."""
    texts = [str(one) for one in right]
    if not all(_NUMBERS.fullmatch(text) and known_number(text) is None for text in texts):
        return False
    return _NUMBER.findall(answer) not in [_NUMBER.findall(text) for text in texts]


def _states_text(
    task: Task,
    right: Sequence[JSON],
    aliases: Sequence[list[str]],
    answer: str,
    words: Sequence[str],
    params: AnswerParams,
) -> bool:
    """Return True if the reply says in a sentence, or by value, what one of the texts says."""
    texts = [str(one) for one in right]
    held = set(words)
    named = any(alias and held.issuperset(alias) for alias in aliases)
    if not named and answer.isascii() and not any(map(_is_value, texts)):
        return False  # no word of it stands there
    asked = read_question(task.prompt)
    if len(words) > 1 and repeats_question(answer, asked):
        return False
    paid = CURRENCY_SIGNS.intersection(answer)
    if paid and not currencies_in(" ".join(texts)) and not money_words(asked, frozenset()):
        return False  # "$42" for "42"
    masked = mark_texts(answer, aliases) if named else None
    if masked is not None and any(map(is_yes_or_no, aliases)) and not says_yes_or_no(masked):
        return False
    in_question = any(has_words(asked, alias) for alias in aliases if alias)
    if masked is not None and not has_role(masked, asked):
        return False
    if masked is not None and states(once(masked), asked, in_question):
        return True
    amount = mark_amount(answer, texts, asked)
    if amount is not None and states(once(amount), asked, in_question):
        return True
    if states_unspaced(answer, texts, task.prompt):
        return True
    alone = read_number(answer)
    if alone is not None and alone.around and is_asked_unit(" ".join(alone.around), task.prompt):
        return not alone.percent and any(
            one is not None and not one.around and one.value == alone.value
            for one in map(known_number, texts)
        )
    numbers = [number for number in map(known_number, texts) if number]
    if len(numbers) == len(texts) and not any(one.around or one.percent for one in numbers):
        said = read_stated_number(task, answer, frozenset())
        told = without_tale(answer, asked)
        if said is None and told != answer:
            said = read_stated_number(task, told, frozenset())
        if said is not None:
            return not said.percent and said.value in {number.value for number in numbers}
    dates = [day for text in texts if (day := known_date(text, params.day_first))]
    if len(dates) == len(texts) and (asks_when(asked) or all(len(day) > 1 for day in dates)):
        return judge_date(task, dates, answer, params).score == 1.0
    return False


def _is_named(
    task: Task, right: Sequence[JSON], answer: str, words: list[str], params: AnswerParams
) -> bool:
    """Return True if the reply has a right answer in another spelling, or as a list in another order."""
    asked = read_question(task.prompt)
    texts = [str(one) for one in right]
    turned = in_usual_order(answer, texts).replace(" & ", " and ")
    words = words if turned == answer else tokens(turned)
    aliases = [alias for text in texts for alias in spellings(text, asked)]
    if tuple(words) in aliases or any(
        tuple(words) == alias[1:] and alias[0] in asked.kinds for alias in aliases if alias
    ):
        return True  # "D" for "Vitamin D"
    held = set(words)
    present = [alias for alias in aliases if held.issuperset(alias)]
    is_new = turned != answer or not {known_tokens(text) for text in texts}.issuperset(present)
    if turned != answer and says(turned, texts, asked, params.day_first):
        return True
    if is_new and _states_text(task, right, list(map(list, aliases)), turned, words, params):
        return True
    if asks_person(asked) and any(
        is_same_person(answer, text) or is_surname(answer, text) for text in texts
    ):
        return True
    several = asks_person(asked) or "two" in asked.row
    if several and any(is_pair_turned(answer, text) for text in texts):
        return True
    lists = [items for text in texts if (items := members(text, asked))]
    return any(
        judge_list(
            task.prompt, items, answer, sentence=params.sentence, partly=params.score == "f1"
        ).score
        == 1.0
        for items in lists
    )


@lru_cache(maxsize=4096)
def _is_value(text: str) -> bool:
    """Return True if a right answer may be said in other words of the same value: a number, amount or date."""
    return any(map(str.isdigit, text)) or known_number(text) is not None
