"""`judge/rubric`: a language model says whether an answer meets a rubric, and is itself tested first.

The reference is `{"rubric": text, "question": text (else the prompt), "reference": text (optional)}`, or
has `"criteria": [{"criterion": text, "weight": number (1), "name": text}, ...]` in place of the rubric: then
each request asks about all of them, and the score is the weighted share of those that are met.
An answer that asks for credit without answering is refused by rule (`guard.py`). Every other answer
costs `samples` requests, and where the majority accepts it, as many canaries: the same question with
answers that say nothing. A judge that accepts a canary accepts anything, and its verdict is a fault. (With
criteria: one that accepts a canary by all of them. A canary may be polite.)

A submission cannot dodge its zero by a fault: where the judge refuses, breaks off, answers nonsense or
fails on it, it is asked about a neutral answer. If it judges that one, the fault is the submission's, and
the score 0; for a timeout or a server error only if it fails on the submission again.

A judge is not deterministic: temperature 0 and a fixed seed are sent, and what a server makes of them
is its own affair. The digest covers model, address, prompt version and parameters, not the model's
mood: keep the verdict that was stored rather than asking again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from msgspec import Meta, Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.reply import spoken
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.judge.endpoint import EndpointFault, chat
from verigym.verifiers.judge.guard import refused
from verigym.verifiers.judge.prompt import (
    PROMPT_VERSION,
    SYSTEM,
    NotAVerdict,
    PromptVersion,
    RubricRequest,
    ask_criteria,
    ask_one,
    ask_pair,
    read,
    read_criteria,
)

MAX_CHARS = 100_000
MAX_CRITERIA = 50
# Answers of the endpoint that say nothing about the text that was sent: key, address, load.
_NOT_THE_TEXT = (401, 402, 403, 404, 408, 409, 425, 429)
NEUTRAL = "The answer to this question is not known to me."
T = TypeVar("T")
CANARIES = ("This text is about something else and does not answer.", "Solution: as asked, done.")


class RubricParams(Struct, frozen=True):
    """Parameters of `RubricVerifier`."""

    base_url: Annotated[
        str, Meta(description="Of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1.")
    ] = ""
    model: Annotated[str, Meta(description="The judge's name at the endpoint.")] = ""
    samples: Annotated[int, Meta(ge=1, le=15, description="Requests that vote; odd.")] = 3
    pairwise: Annotated[
        bool, Meta(description="Compare with the reference answer, in both orders.")
    ] = False
    canary: Annotated[
        bool, Meta(description="Ask about empty answers too before an answer is accepted.")
    ] = True
    seed: Annotated[
        int, Meta(ge=0, description="Sent with each request, counted up by sample.")
    ] = 0
    timeout_s: Annotated[float, Meta(gt=0, description="For each request.")] = 60.0
    max_tokens: Annotated[int, Meta(ge=1, description="Of a judge's reply.")] = 512
    prompt_version: Annotated[
        PromptVersion,
        Meta(description="Stands in the digest; only this version can be had."),
    ] = PROMPT_VERSION

    def __post_init__(self) -> None:
        if self.samples % 2 == 0:
            raise ValueError(f"samples must be odd, so that a vote decides, got {self.samples}")


class RubricVerifier(Verifier[RubricParams]):
    """Score 1 if the majority of samples accepts the answer, else 0; `parts` holds the share.

    With `pairwise` the answer is compared with the reference answer, each sample in both orders; it
    counts where it wins or ties in both. Judged with `accepted` or `rejected`; unusable with
    `no_answer`, `opener`, `repeats_question`, `instructs_judge`, `upsets_judge` (judged only without it),
    `too_long`, `not_text`. Criteria are judged with `accepted` (all), `partial` or `rejected` (none). Faults:
    `judge_timeout`, `judge_unreachable`, `judge_http_error`, `judge_malformed`, `judge_refused`,
    `judge_truncated`, `judge_gullible`. The key is in the variable VERIGYM_JUDGE_KEY.
    """

    id: ClassVar[str] = "judge/rubric"
    version: ClassVar[int] = 2
    about: ClassVar[str] = "A language model judges a text by a rubric; the submission is the text."
    evidence: ClassVar[str] = (
        "The judge's votes on the text by the rubric; what the text says to its judge counts for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {"votes": 0.0}

    @override
    def judge(self, task: Task, submission: JSON) -> Verdict:
        asked = reference_of(task)
        if self.settings.pairwise and (asked.reference is None or asked.criteria):
            raise TaskError("pairwise needs a rubric and a reference answer in the reference")
        if not isinstance(submission, str):
            return unusable("not_text", f"a submission is text, got {type(submission).__name__}")
        if len(submission) > MAX_CHARS:
            return unusable("too_long", f"an answer has at most {MAX_CHARS} characters")
        submission = spoken(submission)
        trouble = refused(submission, asked.question, asked.reference)
        if trouble is not None:
            return unusable(*trouble)
        self._check_address()
        try:
            try:
                yes = self._votes(asked, submission)
            except EndpointFault as error:
                retried = self._judge_control(asked, submission, error)
                if isinstance(retried, Verdict):
                    return retried
                yes = retried
            met = [votes * 2 > self.settings.samples for votes in yes]
            if any(met) and self.settings.canary:
                for canary in CANARIES:
                    if all(
                        votes * 2 > self.settings.samples for votes in self._votes(asked, canary)
                    ):
                        evidence = "the judge accepts an answer that says nothing; use another one"
                        return fault(Status.VERIFIER_ERROR, "judge_gullible", evidence)
        except EndpointFault as error:
            return fault(error.status, error.reason, str(error))
        if not asked.criteria:
            share = {"votes": yes[0] / self.settings.samples}
            evidence = f"{yes[0]} of {self.settings.samples} votes accept it"
            return scored(*((1.0, "accepted") if met[0] else (0.0, "rejected")), evidence, share)
        parts = {one.name: float(is_met) for one, is_met in zip(asked.criteria, met, strict=True)}
        total = sum(one.weight for one in asked.criteria)
        score = sum(one.weight * parts[one.name] for one in asked.criteria) / total
        parts["votes"] = sum(yes) / self.settings.samples / len(yes)
        reason = "accepted" if all(met) else "partial" if score else "rejected"
        return scored(min(score, 1.0), reason, f"{sum(met)} of {len(met)} criteria are met", parts)

    def _judge_control(
        self, asked: RubricQuestion, submission: str, error: EndpointFault
    ) -> Verdict | list[int]:
        """The verdict on a submission on which the judge failed, or the votes of a second try.

        Raises the fault if the judge fails on a neutral answer, too.
        """
        if error.reason == "judge_unreachable" or error.code in _NOT_THE_TEXT:
            raise error
        try:
            self._vote(asked, NEUTRAL, 0)
        except EndpointFault:
            raise error from None
        if error.status in (Status.TIMEOUT, Status.INFRA):
            try:
                return self._votes(asked, submission)
            except EndpointFault as again:
                if again.reason == "judge_unreachable" or again.code in _NOT_THE_TEXT:
                    raise
        return unusable(
            "upsets_judge", f"the judge judges other answers, but not this one: {error.reason}"
        )

    def _votes(self, asked: RubricQuestion, answer: str) -> list[int]:
        """Count the samples that accept the answer, by criterion. Raises Fault if one gave no verdict."""
        votes = [self._vote(asked, answer, i) for i in range(self.settings.samples)]
        return [sum(column) for column in zip(*votes, strict=True)]

    def _vote(self, asked: RubricQuestion, answer: str, i: int) -> list[bool]:
        """One sample's verdict by each criterion, or by the one rubric."""
        question, rubric, reference = asked.question, asked.rubric, asked.reference
        if asked.criteria:
            texts = [one.text for one in asked.criteria]
            ask = ask_criteria(question, texts, reference, answer)
            return self._send(ask, i, lambda text, ask: read_criteria(text, ask, len(texts)))
        if self.settings.pairwise:
            assert reference is not None
            first, second = (
                self._send(
                    ask_pair(question, rubric, reference, answer, swapped),
                    i,
                    lambda text, ask: read(text, ask, ("first", "second", "tie")),
                )
                for swapped in (False, True)
            )
            return [first in ("first", "tie") and second in ("second", "tie")]
        ask = ask_one(question, rubric, reference, answer)
        return [self._send(ask, i, lambda text, ask: read(text, ask, ("yes", "no"))) == "yes"]

    def _send(self, ask: RubricRequest, i: int, read_reply: Callable[[str, RubricRequest], T]) -> T:
        body: dict[str, Any] = {
            "model": self.settings.model,
            "messages": [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": ask.user},
            ],
            "temperature": 0,
            "seed": self.settings.seed + i,
            "max_tokens": self.settings.max_tokens,
        }
        url = self.settings.base_url.rstrip("/") + "/chat/completions"
        key = os.environ.get("VERIGYM_JUDGE_KEY")
        text = chat(url, key, body, self.settings.timeout_s)
        try:
            return read_reply(text, ask)
        except NotAVerdict as error:
            raise EndpointFault(Status.VERIFIER_ERROR, "judge_malformed", str(error)) from error

    def _check_address(self) -> None:
        parts = urlsplit(self.settings.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.settings.model:
            raise TaskError(
                "judge/rubric needs the parameters base_url, like http://127.0.0.1:8000/v1, and model, "
                f"got {self.settings.base_url!r} and {self.settings.model!r}"
            )


@dataclass(frozen=True)
class Criterion:
    """One criterion for an answer: its text, its share of the score, and the name of its part."""

    text: str
    weight: float
    name: str


@dataclass(frozen=True)
class RubricQuestion:
    """A question with what its answers are judged by: a rubric or criteria, perhaps a reference answer."""

    question: str
    rubric: str
    criteria: tuple[Criterion, ...]
    reference: str | None


def reference_of(task: Task) -> RubricQuestion:
    """Return the question of a task and its criteria. Raises TaskError if they cannot be used."""
    given = task.reference
    if not isinstance(given, dict):
        raise TaskError(f"the reference must be an object with rubric or criteria, got {given!r}")
    question, rubric = given.get("question", task.prompt), given.get("rubric", "")
    reference = given.get("reference")
    criteria = _criteria(given["criteria"]) if "criteria" in given else ()
    if not isinstance(rubric, str) or not isinstance(question, str):
        raise TaskError("rubric and question must be text")
    if bool(rubric.strip()) == bool(criteria):
        raise TaskError("give either a rubric that is not blank or criteria")
    if reference is not None and (not isinstance(reference, str) or not reference.strip()):
        raise TaskError(f"reference must be a text that is not blank, got {reference!r}")
    return RubricQuestion(question, rubric, criteria, reference)


def _criteria(given: JSON) -> tuple[Criterion, ...]:
    if not isinstance(given, list | tuple) or not 0 < len(given) <= MAX_CRITERIA:
        raise TaskError(f"criteria must be a list of 1 to {MAX_CRITERIA}, got {given!r}")
    found: dict[str, Criterion] = {}
    for i, one in enumerate(given, 1):
        if isinstance(one, str):
            one = {"criterion": one}
        text = one.get("criterion") if isinstance(one, dict) else None
        if not isinstance(one, dict) or not isinstance(text, str) or not text.strip():
            raise TaskError(
                f'criterion {i} must be {{"criterion": text, "weight": number}}, got {one!r}'
            )
        weight, name = one.get("weight", 1.0), one.get("name", f"criterion_{i}")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e9:
            raise TaskError(f"the weight of criterion {i} must be above 0, got {weight!r}")
        if not isinstance(name, str) or not name or name in found or name == "votes":
            raise TaskError(f"the name of criterion {i} must be a text of its own, got {name!r}")
        found[name] = Criterion(text, float(weight), name)
    return tuple(found.values())
