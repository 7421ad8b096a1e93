"""Terms for compositions: the form of a reply, and its length. Neither looks at the reference.

Both read the reply once from left to right, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}", re.ASCII)


class FormatParams(Struct, frozen=True):
    """Parameters of `FormatVerifier`."""

    tags: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            max_length=16,
            description="Names of tags, in the order in which they must stand.",
        ),
    ] = ("think", "answer")
    prefilled: Annotated[
        bool, Meta(description="The prompt ends in the first opening tag, the reply lacks it.")
    ] = False
    outside: Annotated[
        bool, Meta(description="Whether text may stand before, between and after the tags.")
    ] = False

    def __post_init__(self) -> None:
        for tag in self.tags:
            if not _NAME.fullmatch(tag) or self.tags.count(tag) > 1:
                raise ValueError(f"tags are different names of letters, got {list(self.tags)}")


class FormatVerifier(Verifier[FormatParams]):
    """Score 1 if the reply is the tags in order, each once, each with content, nothing beside.

    Reasons: `formed`; `missing_tag`, `repeated_tag`, `wrong_order`, `empty_tag`, `text_outside`;
    unusable with `not_text`.
    """

    id: ClassVar[str] = "text/format"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "Whether a reply is made of given tags, in order, and nothing else."
    evidence: ClassVar[str] = "The tags of the reply; what stands in them counts for nothing."

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        if not isinstance(submission, str):
            return unusable("not_text", f"a reply is text, got {type(submission).__name__}")
        reply = f"<{self.settings.tags[0]}>{submission}" if self.settings.prefilled else submission
        spans: list[tuple[str, int, int]] = []
        for tag in self.settings.tags:
            opening, closing = f"<{tag}>", f"</{tag}>"
            for mark in (opening, closing):
                if (count := reply.count(mark)) != 1:
                    reason = "repeated_tag" if count else "missing_tag"
                    return scored(0.0, reason, f"{mark} stands {count} times, not once")
            spans.append((tag, reply.index(opening) + len(opening), reply.index(closing)))
        at = 0
        beside = ""
        for tag, start, end in spans:
            if not at <= start - len(tag) - 2 < start <= end:
                return scored(0.0, "wrong_order", f"<{tag}> is not where it should be")
            if not reply[start:end].strip():
                return scored(0.0, "empty_tag", f"<{tag}> holds nothing")
            beside += reply[at : start - len(tag) - 2]
            at = end + len(tag) + 3
        if not self.settings.outside and (beside + reply[at:]).strip():
            return scored(0.0, "text_outside", "there is text beside the tags")
        return scored(1.0, "formed", "the tags stand in order")


_MEASURES: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "lines": lambda text: len(text.splitlines()),
}


class LengthParams(Struct, frozen=True):
    """Parameters of `LengthVerifier`."""

    unit: Annotated[
        Literal["characters", "words", "lines"], Meta(description="What is counted.")
    ] = "characters"
    least: Annotated[int, Meta(ge=0, description="Fewer cost.")] = 0
    most: Annotated[int, Meta(ge=0, description="More cost.")] = 4096
    slack: Annotated[int, Meta(ge=0, description="So many more, or fewer, and the score is 0.")] = 0

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise ValueError(f"least must not be above most, got {self.least}, {self.most}")


class LengthVerifier(Verifier[LengthParams]):
    """Score 1 for a reply of `least` to `most` units, falling to 0 over `slack` more or fewer.

    With `least` 0 and `slack` above 0 it is the soft punishment of overlong replies (Yu et al. 2025,
    DAPO, arXiv 2503.14476, eq. 13), on a scale of 0 to 1. Reasons: `fits`, `too_long`, `too_short`;
    unusable with `not_text`.
    """

    id: ClassVar[str] = "text/length"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "Whether a reply is as long as asked, with a slope at both ends."
    evidence: ClassVar[str] = "The length of the reply; what it says counts for nothing."

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        if not isinstance(submission, str):
            return unusable("not_text", f"a reply is text, got {type(submission).__name__}")
        unit = self.settings.unit
        size = _MEASURES[unit](submission)
        beyond = max(size - self.settings.most, self.settings.least - size)
        told = f"{size} {unit}, {self.settings.least} to {self.settings.most} are asked for"
        if beyond <= 0:
            return scored(1.0, "fits", told)
        reason = "too_long" if size > self.settings.most else "too_short"
        score = max(0.0, 1.0 - beyond / self.settings.slack) if self.settings.slack else 0.0
        return scored(score, reason, told)
