"""`judge/rubric`: a language model says whether an answer meets a rubric, and is itself tested first.

The reference is `{"rubric": text, "question": text (else the prompt), "reference": text (optional)}`.
An answer that asks for credit without answering is refused by rule (`guard.py`). Every other answer
costs `samples` requests, and where the majority accepts it, as many canaries: the same question with
answers that say nothing. A judge that accepts a canary accepts anything, and its verdict is a fault.

A judge is not deterministic: temperature 0 and a fixed seed are sent, and what a server makes of them
is its own affair. The digest covers model, address, prompt version and parameters, not the model's
mood: keep the verdict that was stored rather than asking again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from verigym.canonical import JSON
from verigym.errors import RequestError, TaskError
from verigym.reply import spoken
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault, scored, unusable
from verigym.verifier import Verifier
from verigym.verifiers.judge.endpoint import Fault, chat
from verigym.verifiers.judge.guard import refused
from verigym.verifiers.judge.prompt import (
    PROMPT_VERSION,
    SYSTEM,
    Ask,
    NotAVerdict,
    ask_one,
    ask_pair,
    read,
)

MAX_CHARS = 100_000
CANARIES = ("This text is about something else and does not answer.", "Solution: as asked, done.")


class RubricVerifier(Verifier):
    """Score 1 where the majority of samples accepts the answer, else 0; `parts` holds the share.

    With `pairwise` the answer is compared with the reference answer, each sample in both orders; it
    counts where it wins or ties in both. Judged with `accepted` or `rejected`; unusable with
    `no_answer`, `opener`, `repeats_question`, `instructs_judge`, `too_long`, `not_text`. Faults:
    `judge_timeout`, `judge_unreachable`, `judge_http_error`, `judge_malformed`, `judge_refused`,
    `judge_truncated`, `judge_gullible`. The key is in the variable VERIGYM_JUDGE_KEY.
    """

    id: ClassVar[str] = "judge/rubric"
    version: ClassVar[int] = 1
    about: ClassVar[str] = "A language model judges a text by a rubric; the submission is the text."
    defaults: ClassVar[Mapping[str, JSON]] = {
        "base_url": "",
        "model": "",
        "samples": 3,
        "pairwise": False,
        "canary": True,
        "seed": 0,
        "timeout_s": 60.0,
        "max_tokens": 512,
        "prompt_version": PROMPT_VERSION,
    }
    param_schemas: ClassVar[Mapping[str, Mapping[str, JSON]]] = {
        "base_url": {
            "description": "Of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1."
        },
        "model": {"description": "The judge's name at the endpoint."},
        "samples": {"minimum": 1, "maximum": 15, "description": "Requests that vote; odd."},
        "pairwise": {"description": "Compare with the reference answer, in both orders."},
        "canary": {"description": "Ask about empty answers too before an answer is accepted."},
        "seed": {"minimum": 0, "description": "Sent with each request, counted up by sample."},
        "timeout_s": {"exclusiveMinimum": 0, "description": "For each request."},
        "max_tokens": {"minimum": 1, "description": "Of a judge's reply."},
        "prompt_version": {
            "enum": [PROMPT_VERSION],
            "description": "Stands in the digest; only this version can be had.",
        },
    }
    evidence: ClassVar[str] = (
        "The judge's votes on the text by the rubric; what the text says to its judge counts for nothing."
    )
    weights: ClassVar[Mapping[str, float]] = {"votes": 0.0}

    def __init__(self, **params: JSON) -> None:
        super().__init__(**params)
        samples = int(str(self.params["samples"]))
        if samples % 2 == 0:
            raise RequestError(f"samples must be odd, so that a vote decides, got {samples}")
        self._samples = samples

    def judge(self, task: Task, submission: JSON) -> Verdict:
        """See the class and the module."""
        question, rubric, reference = reference_of(task)
        if self.params["pairwise"] and reference is None:
            raise TaskError("pairwise needs a reference answer in the reference")
        if not isinstance(submission, str):
            return unusable("not_text", f"a submission is text, got {type(submission).__name__}")
        if len(submission) > MAX_CHARS:
            return unusable("too_long", f"an answer has at most {MAX_CHARS} characters")
        submission = spoken(submission)
        trouble = refused(submission, question)
        if trouble is not None:
            return unusable(*trouble)
        self._check_address()
        try:
            yes = self._votes(question, rubric, reference, submission)
            if yes * 2 > self._samples and self.params["canary"]:
                for canary in CANARIES:
                    if self._votes(question, rubric, reference, canary) * 2 > self._samples:
                        evidence = "the judge accepts an answer that says nothing; use another one"
                        return fault(Status.VERIFIER_ERROR, "judge_gullible", evidence)
        except Fault as error:
            return fault(error.status, error.reason, str(error))
        share = {"votes": yes / self._samples}
        evidence = f"{yes} of {self._samples} votes accept it"
        if yes * 2 > self._samples:
            return scored(1.0, "accepted", evidence, share)
        return scored(0.0, "rejected", evidence, share)

    def _votes(self, question: str, rubric: str, reference: str | None, answer: str) -> int:
        """How many samples accept the answer. Raises Fault where one gave no verdict."""
        votes: Counter[bool] = Counter()
        for i in range(self._samples):
            if self.params["pairwise"]:
                assert reference is not None
                both = [
                    self._vote(ask_pair(question, rubric, reference, answer, swapped), i)
                    for swapped in (False, True)
                ]
                votes[both[0] in ("first", "tie") and both[1] in ("second", "tie")] += 1
            else:
                votes[self._vote(ask_one(question, rubric, reference, answer), i) == "yes"] += 1
        return votes[True]

    def _vote(self, ask: Ask, i: int) -> str:
        allowed = ("first", "second", "tie") if self.params["pairwise"] else ("yes", "no")
        body: dict[str, Any] = {
            "model": self.params["model"],
            "messages": [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": ask.user},
            ],
            "temperature": 0,
            "seed": int(str(self.params["seed"])) + i,
            "max_tokens": self.params["max_tokens"],
        }
        url = str(self.params["base_url"]).rstrip("/") + "/chat/completions"
        key = os.environ.get("VERIGYM_JUDGE_KEY")
        text = chat(url, key, body, float(str(self.params["timeout_s"])))
        try:
            return read(text, ask, allowed)
        except NotAVerdict as error:
            raise Fault(Status.VERIFIER_ERROR, "judge_malformed", str(error)) from error

    def _check_address(self) -> None:
        parts = urlsplit(str(self.params["base_url"]))
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.params["model"]:
            raise TaskError(
                "judge/rubric needs the parameters base_url, like http://127.0.0.1:8000/v1, and model, "
                f"got {self.params['base_url']!r} and {self.params['model']!r}"
            )


def reference_of(task: Task) -> tuple[str, str, str | None]:
    """Question, rubric and reference answer of a task. Raises TaskError where they cannot be used."""
    given = task.reference
    if not isinstance(given, dict):
        raise TaskError(f"the reference must be an object with rubric, got {given!r}")
    question, rubric = given.get("question", task.prompt), given.get("rubric")
    reference = given.get("reference")
    if not isinstance(rubric, str) or not rubric.strip() or not isinstance(question, str):
        raise TaskError("rubric and question must be text, the rubric not blank")
    if reference is not None and (not isinstance(reference, str) or not reference.strip()):
        raise TaskError(f"reference must be a text that is not blank, got {reference!r}")
    return question, rubric, reference
