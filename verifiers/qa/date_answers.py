"""Judges an answer that is a date, alone or in a sentence, in any usual form of writing one."""

from __future__ import annotations

from collections.abc import Sequence

from verigym.canonical import JSON
from verigym.task import Task
from verigym.verdict import Verdict, unusable
from verigym.verifiers.qa.abroad import with_english_dates
from verigym.verifiers.qa.around import without_time
from verigym.verifiers.qa.asked import asks_when, read_question
from verigym.verifiers.qa.mark import mark_given
from verigym.verifiers.qa.normalise import plain
from verigym.verifiers.qa.params import AnswerParams
from verigym.verifiers.qa.reference import known_date
from verigym.verifiers.qa.sentence_words import without_marks
from verigym.verifiers.qa.statement import states
from verigym.verifiers.qa.values import dates_in, is_day, moves_date, read_date
from verigym.verifiers.qa.verdicts import exact


def judge_date(
    task: Task, wanted: Sequence[tuple[int, ...]], answer: str, params: AnswerParams
) -> Verdict:
    """Score 1 if the answer is one of the wanted dates, as precise as that one."""
    answer = with_english_dates(without_time(answer, task.prompt))
    found = read_date(answer, params.day_first)
    if found is None and params.sentence:
        text = without_marks(plain(answer))
        mentions = dates_in(text, params.day_first, years=any(len(one) == 1 for one in wanted))
        asked = read_question(task.prompt)
        given = {day for _, _, day in dates_in(" ".join(asked.row), params.day_first, True)}
        values = {day for _, _, day in mentions if day not in given} or {
            day for _, _, day in mentions
        }
        if len(values) == 1:
            masked = mark_given(text, [(s, e, day in values) for s, e, day in mentions])
            if states(masked, asked, bool(values & given), frozenset(["ad", "ce"])):
                found = values.pop()
    if found is None:
        return unusable("unreadable", "the answer is not one date that can be read")
    return exact(is_day(found, wanted))


def moves_the_date(
    task: Task, kind: str, right: Sequence[JSON], answer: str, params: AnswerParams
) -> bool:
    """Return True if a date is wanted and the reply moves it with "since", "before" or the like."""
    if kind != "date":
        days = [known_date(str(one), params.day_first) for one in right]
        if not any(days) or not (
            asks_when(read_question(task.prompt)) or any(len(day) > 1 for day in days if day)
        ):
            return False
    return moves_date(plain(answer), frozenset(read_question(task.prompt).row))
