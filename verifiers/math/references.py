"""Reads the reference of a task: its answers, its question and the form that it requires."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from verigym.errors import TaskError
from verigym.task import Task
from verigym.verifiers.math.clean import clean
from verigym.verifiers.math.corruption import mended
from verigym.verifiers.math.extract import extract
from verigym.verifiers.math.forms import FORMS
from verigym.verifiers.math.languages import reads_decimal_comma, to_english, with_points
from verigym.verifiers.math.trees import MAX_ANSWER_CHARS, MAX_REPLY_CHARS


def form_of(task: Task) -> str:
    """The form that the reference requires; empty if it names none. Raises TaskError for an unknown one."""
    form = task.reference.get("form") if isinstance(task.reference, dict) else None
    if form is None:
        return ""
    if form not in FORMS:
        raise TaskError(f"task {task.id}: form must be one of {', '.join(FORMS)}, got {form!r}")
    return str(form)


def with_answer(task: Task, answer: str) -> Task:
    """Return the task with `answer` as its only right one, in place of another reply. Raises TaskError if it has answers
    of its own beside that."""
    assert isinstance(task.reference, dict)
    if "answer" in task.reference or "answers" in task.reference:
        raise TaskError(
            f"task {task.id}: a reference has answers or a reply in place of them, not both; call a field of your own "
            "otherwise than reply"
        )
    kept = {k: v for k, v in task.reference.items() if k not in ("reply", "instead_of")}
    return replace(task, reference={**kept, "answer": answer})


@lru_cache(maxsize=4096)
def cleaned_golds(written: tuple[str, ...], question: str) -> tuple[str, ...]:
    """The reference answers, cleaned; a comma is that of a decimal where the question is in a language with such."""
    return tuple(cleaned_gold(gold, reads_decimal_comma(gold, question)) for gold in written)


def written_reference(task: Task) -> tuple[tuple[str, ...], str]:
    """The reference answers as they are written, and the question. Raises TaskError if they cannot be used."""
    reference = task.reference
    if not isinstance(reference, dict):
        raise TaskError(f'task {task.id}: the reference must be an object like {{"answer": "42"}}')
    listed = reference.get("answers")
    if listed is None:
        listed = [reference.get("answer")]
    if not isinstance(listed, list | tuple) or not listed:
        raise TaskError(f"task {task.id}: answers must be a list of texts, got {listed!r}")
    question = reference.get("question")
    if question is not None and not isinstance(question, str):
        raise TaskError(f"task {task.id}: the question must be text, got {type(question).__name__}")
    golds: list[str] = []
    for text in listed:
        if isinstance(text, int | float) and not isinstance(text, bool):
            text = repr(text)
        if not isinstance(text, str) or not text.strip():
            raise TaskError(
                f"task {task.id}: an answer must be text that is not empty, got {text!r}"
            )
        if len(text) > MAX_REPLY_CHARS:
            raise TaskError(f"task {task.id}: an answer has at most {MAX_REPLY_CHARS} characters")
        golds.append(text)
    return tuple(golds), question or _question_of(task.prompt)


def _question_of(prompt: str) -> str:
    """The prompt, which asks where the reference holds no question; empty if it is an instruction alone, "Give the value."."""
    asks = "?" in prompt or re.search(r"[\d\\$]", prompt) or len(prompt.split()) > 3
    return prompt if asks else ""


@lru_cache(maxsize=4096)
def cleaned_gold(text: str, commas: bool = False) -> str:
    """A reference mended and cleaned; the final answer in it if it is a whole solution.

    `commas`: its 2,5 is a decimal.
    """
    text = mended(text)
    if commas:
        text = with_points(text, sure=True)
    if "\\boxed" in text or len(text) > 400 or "####" in text:
        text = extract(text).answer or text
    return clean(to_english(text[:MAX_ANSWER_CHARS]))
