"""`text/constraints`: a text must follow instructions that a program can check.

The reference is `{"constraints": [{"id": ..., "args": {...}}, ...]}`, or a row of the public IFEval
set with its `instruction_id_list` and `kwargs`. The submission is the text.

Covers: text of a megabyte in linear time, keywords with signs of patterns, several constraints of one
kind, forbidden words in lookalikes, keywords hidden in comments. Does not cover: whether the text answers the prompt, or is any good: combine with a judge.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError, suggestion
from verigym.reply import spoken
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.text.constraints.draw import KINDS
from verigym.verifiers.text.constraints.kind import ConstraintKind

MAX_CHARS = 1 << 20
MAX_CONSTRAINTS = 64


class ConstraintsParams(Struct, frozen=True):
    """Parameters of `ConstraintsVerifier`."""

    mode: Annotated[
        Literal["strict", "loose"],
        Meta(description="loose: without first or last line or asterisks will do."),
    ] = "strict"
    score: Annotated[
        Literal["all", "share"], Meta(description="All or nothing, or the share that holds.")
    ] = "all"


class ConstraintsVerifier(Verifier[ConstraintsParams]):
    """Score 1 if every constraint holds, else 0; with `score` `share`, the share that holds.

    `mode` `loose` also tries the text without its first line, its last line, both, and each without
    asterisks, and takes the best for each constraint, as the public benchmark's loose score does.
    Judged with `followed` or `not_followed`; unusable with `no_answer`, `too_long`, `not_text`.
    `parts` holds each constraint by id, the second of one kind with `#2` and so on.
    """

    id: ClassVar[str] = "text/constraints"
    version: ClassVar[int] = 2
    about: ClassVar[str] = (
        "The text must follow all given constraints, such as a number of words or a language; the "
        "submission is the text."
    )
    evidence: ClassVar[str] = (
        "The form of the text; whether it answers the prompt counts for nothing."
    )

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        constraints = constraints_of(task)
        if not isinstance(submission, str):
            return unusable("not_text", f"a submission is text, got {type(submission).__name__}")
        if len(submission) > MAX_CHARS:
            return unusable("too_long", f"a text has at most {MAX_CHARS} characters")
        submission = spoken(submission)
        if not any(unicodedata.category(c)[0] not in "CZ" for c in submission):
            return unusable("no_answer", "the text is blank")
        texts = variants(submission) if self.settings.mode == "loose" else [submission]
        parts: dict[str, float] = {}
        for kind, args in constraints:
            parts[_name(kind.id, parts)] = float(any(kind.check(t, args) for t in texts))
        failed = [name for name, value in parts.items() if not value]
        if not failed:
            return scored(1.0, "followed", f"all {len(parts)} constraints hold", parts)
        share = 1 - len(failed) / len(parts)
        score = share if self.settings.score == "share" else 0.0
        return scored(score, "not_followed", f"do not hold: {', '.join(failed)}", parts)


def _name(id: str, taken: Mapping[str, float]) -> str:
    n = sum(name.partition("#")[0] == id for name in taken)
    return f"{id}#{n + 1}" if n else id


def variants(text: str) -> list[str]:
    """Return the text and what the loose mode tries beside it, none of them blank."""
    lines = text.split("\n")
    kept = [text]
    kept += ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    kept += [part.replace("*", "") for part in kept]
    return [part for part in kept if part.strip()]


def constraints_of(task: Task) -> list[tuple[ConstraintKind, dict[str, Any]]]:
    """Return the kinds and arguments of a reference. Raises TaskError if they cannot be used."""
    reference = task.reference
    if not isinstance(reference, dict):
        raise TaskError("the reference must be an object with constraints")
    given = reference["constraints"] if "constraints" in reference else _public_row(reference)
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MAX_CONSTRAINTS:
        raise TaskError(f"constraints must be a list of 1 to {MAX_CONSTRAINTS}, got {given!r}")
    read = []
    for i, entry in enumerate(given):
        where = f"constraint {i}"
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            raise TaskError(f"{where} must be an object with id and args, got {entry!r}")
        kind = KINDS.get(entry["id"])
        if kind is None:
            raise TaskError(f"{where}: no kind {entry['id']!r}; {suggestion(entry['id'], KINDS)}")
        read.append((kind, kind.read(entry.get("args"), where)))
    return read


def _public_row(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    ids, args = row.get("instruction_id_list"), row.get("kwargs")
    if not isinstance(ids, list) or not isinstance(args, list) or len(ids) != len(args):
        raise TaskError(
            "the reference must have constraints, or instruction_id_list and kwargs of one length"
        )
    return [{"id": id, "args": given} for id, given in zip(ids, args, strict=True)]
