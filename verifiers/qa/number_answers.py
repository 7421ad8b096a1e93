"""Judges an answer that is a number, alone or in a sentence, with its unit or currency."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from verigym.canonical import JSON
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifiers.qa.amounts import CURRENCY_SIGNS, currencies_in, mark_amount, money_words
from verigym.verifiers.qa.asked import asks_when, read_question
from verigym.verifiers.qa.commit import pieces, question_words
from verigym.verifiers.qa.date_answers import judge_date
from verigym.verifiers.qa.digits import with_minus
from verigym.verifiers.qa.mark import mark_given, once
from verigym.verifiers.qa.members import without_tale
from verigym.verifiers.qa.normalise import plain, tokens
from verigym.verifiers.qa.params import AnswerParams
from verigym.verifiers.qa.reference import known_date, unit_words, wanted_number
from verigym.verifiers.qa.sentence_words import without_marks
from verigym.verifiers.qa.statement import counts_something, states
from verigym.verifiers.qa.values import Number, numbers_in, read_number
from verigym.verifiers.qa.verdicts import both, exact

_PERCENT = frozenset({"percent", "percentage", "%"})
_ABOUT = frozenset({"about", "approximately", "around", "roughly", "circa", "ca", "~", "≈"})


def judge_number(
    task: Task,
    reference: Mapping[str, JSON],
    right: Sequence[JSON],
    answer: str,
    params: AnswerParams,
) -> Verdict:
    """Score 1 if the answer is one of the right numbers by value, in the unit that the reference wants."""
    listed: Sequence[str] = reference.get("units") or []  # type: ignore[assignment]
    units = {word for unit in listed for word in unit_words(unit)}
    asked = read_question(task.prompt)
    named = currencies_in(" ".join(map(str, (*right, *units))))
    said_in = currencies_in(answer)
    # "5 dollars per pound" has one currency
    two = len(said_in) > 1 and "per" not in tokens(answer) and not asked.knows("pound")
    if two or (named and not said_in <= named):
        return unusable("unreadable", "the answer is in another currency, or in two")
    money = money_words(asked, named)
    allowed = units | CURRENCY_SIGNS | _ABOUT | money | question_words(task.prompt)
    number = read_number(answer)
    if number is not None and all(word in allowed for word in number.around):
        if units and reference.get("unit_required") and not units & {*number.around}:
            return scored(0.0, "wrong_answer", "the number has no unit", both(0.0))
        return _compare(task, right, number, params)
    if params.sentence:
        amounts = [f"{one} {unit}" for one in right for unit in listed]
        amount = mark_amount(answer, amounts, asked)
        if amount is not None and states(once(amount), asked):
            return exact(True)  # "330 m (1,083 ft)"
        extra = frozenset(units | _ABOUT | money)
        said = read_stated_number(task, answer, extra)
        told = without_tale(answer, asked)
        if said is None and told != answer:
            said = read_stated_number(task, told, extra)
        if said is not None:
            words = re.findall(r"[^\W\d_]+|[^\s\w.,;:()]", answer.lower())
            if units and reference.get("unit_required") and not units.intersection(words):
                return scored(0.0, "wrong_answer", "the number has no unit", both(0.0))
            return _compare(task, right, said, params)
        years = [known_date(str(one), None) for one in right]
        if asks_when(asked) and all(years):
            verdict = judge_date(task, [one for one in years if one], answer, params)
            if verdict.score:
                return verdict
    if len(pieces(answer)) > 1 and read_number(answer) is None:
        return unusable("several_answers", "give one number, not a list of candidates")
    return unusable("unreadable", "the answer is not one number that can be read")


def read_stated_number(task: Task, answer: str, extra: frozenset[str]) -> Number | None:
    """Return the one number that a sentence states; numbers of the question may stand beside it."""
    text = with_minus(without_marks(plain(answer)))
    mentions = numbers_in(text)
    asked = read_question(task.prompt)
    given = {one.value for _, _, one in numbers_in(" ".join(asked.row)) if one}
    if any(number is None for _, _, number in mentions):
        return None
    values = {one.value for _, _, one in mentions if one} - given
    in_question = not values
    if in_question:
        values = {mentions[-1][2].value} if mentions and mentions[-1][2] else set()
        if len(mentions) > 1:
            return None
    if len(values) != 1:
        return None
    spans = [(s, e, one is not None and one.value in values) for s, e, one in mentions]
    masked = counts_something(mark_given(text, spans), asked)
    if not states(masked, asked, in_question, extra):
        return None
    return next(one for _, _, one in mentions if one and one.value in values)


def _compare(task: Task, right: Sequence[JSON], number: Number, params: AnswerParams) -> Verdict:
    tolerance, least = Decimal(repr(params.tolerance)), Decimal(repr(params.abs_tolerance))
    asks_percent = bool(question_words(task.prompt) & _PERCENT)
    for one in right:
        wanted, percent = wanted_number(one)
        values = [number.value]
        if number.percent and not percent:
            # "5%" is 0.05; where a percentage is asked for, the task may have it as 5.
            values = [number.value / 100, *(values if asks_percent else [])]
        elif percent and not number.percent:
            values.append(number.value * 100)  # 0.05 for "5%", or 5 without the sign
        slack = max(least, tolerance * abs(wanted))
        if any(abs(value - wanted) <= slack for value in values):
            return exact(True)
    return exact(False)
