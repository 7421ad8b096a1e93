"""Terms for compositions: the form of a reply, and its length. Neither looks at the reference.

Both read the reply once from left to right, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import RequestError
from verigym.task import Task
from verigym.verdict import Verdict, scored, unusable
from verigym.verifier import Verifier

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}", re.ASCII)


class FormatVerifier(Verifier):
    """Score 1 if the reply is the tags in order, each once, each with content, nothing beside.

    Reasons: `formed`; `missing_tag`, `repeated_tag`, `wrong_order`, `empty_tag`, `text_outside`;
    unusable with `not_text`.
    """

    id: ClassVar[str] = "text/format"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "Whether a reply is made of given tags, in order, and nothing else."
    evidence: ClassVar[str] = "The tags of the reply; what stands in them counts for nothing."
    defaults: ClassVar[Mapping[str, JSON]] = {
        "tags": ["think", "answer"],
        "prefilled": False,
        "outside": False,
    }
    param_schemas: ClassVar[Mapping[str, Mapping[str, JSON]]] = {
        "tags": {
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": 16,
            "description": "Names of tags, in the order in which they must stand.",
        },
        "prefilled": {
            "description": "The prompt ends in the first opening tag, the reply lacks it."
        },
        "outside": {"description": "Whether text may stand before, between and after the tags."},
    }

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        tags = self.params["tags"]
        assert isinstance(tags, list | tuple)
        self._tags = [str(tag) for tag in tags]
        for tag in self._tags:
            if not _NAME.fullmatch(tag) or self._tags.count(tag) > 1:
                raise RequestError(f"tags are different names of letters, got {self._tags}")

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        if not isinstance(submission, str):
            return unusable("not_text", f"a reply is text, got {type(submission).__name__}")
        reply = f"<{self._tags[0]}>{submission}" if self.params["prefilled"] else submission
        spans: list[tuple[str, int, int]] = []
        for tag in self._tags:
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
        if not self.params["outside"] and (beside + reply[at:]).strip():
            return scored(0.0, "text_outside", "there is text beside the tags")
        return scored(1.0, "formed", "the tags stand in order")


_MEASURES: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "lines": lambda text: len(text.splitlines()),
}


class LengthVerifier(Verifier):
    """Score 1 for a reply of `least` to `most` units, falling to 0 over `slack` more or fewer.

    With `least` 0 and `slack` above 0 it is the soft punishment of overlong replies (Yu et al. 2025,
    DAPO, arXiv 2503.14476, eq. 13), on a scale of 0 to 1. Reasons: `fits`, `too_long`, `too_short`;
    unusable with `not_text`.
    """

    id: ClassVar[str] = "text/length"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "Whether a reply is as long as asked, with a slope at both ends."
    evidence: ClassVar[str] = "The length of the reply; what it says counts for nothing."
    defaults: ClassVar[Mapping[str, JSON]] = {
        "unit": "characters",
        "least": 0,
        "most": 4096,
        "slack": 0,
    }
    param_schemas: ClassVar[Mapping[str, Mapping[str, JSON]]] = {
        "unit": {"enum": list(_MEASURES), "description": "What is counted."},
        "least": {"minimum": 0, "description": "Fewer cost."},
        "most": {"minimum": 0, "description": "More cost."},
        "slack": {"minimum": 0, "description": "So many more, or fewer, and the score is 0."},
    }

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        self._least, self._most, self._slack = (
            _whole(self.params[name]) for name in ("least", "most", "slack")
        )
        if self._least > self._most:
            raise RequestError(f"least must not be above most, got {self._least}, {self._most}")

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        if not isinstance(submission, str):
            return unusable("not_text", f"a reply is text, got {type(submission).__name__}")
        unit = str(self.params["unit"])
        size = _MEASURES[unit](submission)
        beyond = max(size - self._most, self._least - size)
        told = f"{size} {unit}, {self._least} to {self._most} are asked for"
        if beyond <= 0:
            return scored(1.0, "fits", told)
        reason = "too_long" if size > self._most else "too_short"
        score = max(0.0, 1.0 - beyond / self._slack) if self._slack else 0.0
        return scored(score, reason, told)


def _whole(value: JSON) -> int:
    assert isinstance(value, int)  # by the schema
    return value
