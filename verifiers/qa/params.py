"""Parameters of `qa/answer`."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class AnswerParams(Struct, frozen=True):
    """Parameters of `AnswerVerifier`."""

    score: Annotated[
        Literal["exact", "f1"],
        Meta(description="1 for an exact match alone, or token F1 of texts and lists."),
    ] = "exact"
    sentence: Annotated[bool, Meta(description="Take sentences that state the answer.")] = True
    max_words: Annotated[int, Meta(ge=1, description="Words of an answer at most.")] = 40
    tolerance: Annotated[
        float, Meta(ge=0, description="Relative difference allowed of numbers.")
    ] = 0.0
    abs_tolerance: Annotated[
        float, Meta(ge=0, description="Absolute difference allowed of numbers.")
    ] = 0.0
    day_first: Annotated[
        bool | None, Meta(description="How 03/04/2020 is read; null: not at all.")
    ] = None
    citations: Annotated[
        Literal["auto", "ignore"],
        Meta(description="auto: wanted where the task lists supporting pages."),
    ] = "auto"
    min_quote_chars: Annotated[int, Meta(ge=0, description="Shorter quotes show nothing.")] = 12
    least_precision: Annotated[
        float,
        Meta(ge=0, le=1, description="Share of the cited pages that must support the answer."),
    ] = 1.0
