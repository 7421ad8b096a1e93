"""Reads the reference of `qa/answer`: the kind of answer and the right ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.task import Task
from verigym.verifiers.qa.normalise import known_tokens, signs, tokens
from verigym.verifiers.qa.values import Number, read_date, read_number, read_yes_no

KINDS = ("text", "number", "date", "yes_no", "list")


def read_reference(task: Task) -> tuple[Mapping[str, JSON], str, list[JSON]]:
    """Return the reference, kind and right answers; a yes_no answer as a boolean. Raises TaskError."""
    reference = task.reference
    if not isinstance(reference, dict):
        raise TaskError('the reference must be {"answer": ...} or {"answers": [...]}')
    right = reference["answers"] if "answers" in reference else [reference.get("answer")]
    if "answers" not in reference and isinstance(reference.get("answer"), list):
        right = reference["answer"]
    if not isinstance(right, list | tuple) or not right:
        raise TaskError(f"answers must be a list of at least one, got {right!r}")
    kind = reference.get("kind")
    if kind is None:
        first = right[0]
        kind = (
            "yes_no"
            if isinstance(first, bool)
            else "number"
            if isinstance(first, int | float)
            else "list"
            if isinstance(reference.get("answer"), list)
            else "text"
        )
    if kind not in KINDS:
        raise TaskError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    for one in right:
        _check_right(kind, one)
    if kind == "yes_no":
        right = [read_yes_no(tokens(one)) if isinstance(one, str) else one for one in right]
        if len(right) != 1:
            raise TaskError("a yes_no task has one right answer")
    units = reference.get("units")
    if units is not None and not (
        isinstance(units, list | tuple) and all(isinstance(unit, str) for unit in units)
    ):
        raise TaskError("units must be a list of texts")
    return reference, kind, list(right)


BOTH = "a reference has answers or a reply in place of them, not both; call a field of your own otherwise than reply"
_USUAL = {"text": "a", "number": "1", "date": "2000-01-01", "yes_no": "yes"}


def usual_answer(task: Task) -> Task:
    """Return the task with a harmless answer of its kind, in place of another reply and of its own answers.

    Raises TaskError for lists, which are not read out of replies.
    """
    reference = task.reference
    assert isinstance(reference, dict)
    if "answer" in reference or "answers" in reference:
        raise TaskError(BOTH)
    known = {k: v for k, v in reference.items() if k not in ("reply", "instead_of")}
    own = reference.get("instead_of", {})
    if not isinstance(own, dict):
        raise TaskError(f"instead_of must be an object of answers, got {own!r}")
    known |= {key: own[key] for key in ("answer", "answers") if key in own}
    kind = known.get("kind", "text")
    if "answer" in known or "answers" in known:
        kind = read_reference(replace(task, reference=known))[1]
    if kind not in _USUAL:
        raise TaskError(f"a reply can be the reference of {', '.join(_USUAL)}, not of {kind!r}")
    known.pop("answers", None)
    return replace(task, reference={**known, "kind": kind, "answer": _USUAL[str(kind)]})


def with_answer(task: Task, answer: str) -> Task:
    """Return the task with `answer` as its only right one."""
    assert isinstance(task.reference, dict)
    return replace(task, reference={**task.reference, "answer": answer})


@lru_cache(maxsize=1024)
def known_date(text: str, day_first: bool | None) -> tuple[int, ...] | None:
    """Return the date that a text of a task is; see `read_date`."""
    return read_date(text, day_first)


@lru_cache(maxsize=1024)
def known_number(text: str) -> Number | None:
    """Return the number that a text of a task is; see `read_number`."""
    return read_number(text)


def _check_right(kind: str, one: JSON) -> None:
    usable = False
    if kind == "text":
        usable = isinstance(one, str) and bool(known_tokens(one) or signs(one).strip("."))
    elif kind == "list":
        aliases = one if isinstance(one, list) else [one]
        usable = bool(aliases) and all(
            isinstance(a, str) and (known_tokens(a) or signs(a).strip(".")) for a in aliases
        )
    elif kind == "yes_no":
        usable = isinstance(one, bool) or (
            isinstance(one, str) and read_yes_no(tokens(one)) is not None
        )
    elif kind == "date":
        usable = isinstance(one, str) and known_date(one, None) is not None
    elif isinstance(one, str):
        usable = known_number(one) is not None
    else:
        usable = isinstance(one, int | float) and not isinstance(one, bool)
    if not usable:
        raise TaskError(f"a right answer of kind {kind} cannot be {one!r}")


def wanted_number(one: JSON) -> tuple[Decimal, bool]:
    """Return the value of a right number, and whether it is a percentage."""
    if isinstance(one, str):
        number = known_number(one)
        if number is None:
            raise TaskError(f"a right answer of kind number cannot be {one!r}")
        return number.value, number.percent
    try:
        return Decimal(repr(one)), False
    except InvalidOperation as error:
        raise TaskError(f"a right answer of kind number cannot be {one!r}") from error


def unit_words(unit: str) -> list[str]:
    """Return the words and signs of a unit, as they stand around a number."""
    return unit.lower().replace("/", " / ").replace("²", " ² ").split()
