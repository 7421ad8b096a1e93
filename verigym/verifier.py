"""`Verifier[P]`, the class that an author subclasses: `(task, submission) -> Verdict`; versioned and pure.

    class Params(msgspec.Struct, frozen=True):
        fold: Annotated[bool, Meta(description="Ignore case.")] = False

    class Exact(Verifier[Params]):
        id = "mine/exact"
        version = 1

        def judge(self, task, submission):
            fold = str.casefold if self.settings.fold else str
            return scored(float(fold(submission) == fold(task.reference)), "compared")

`P` may be left out for a verifier without parameters.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from verigym.canonical import JSON
from verigym.errors import MissingError, RequestError, SandboxError, TaskError
from verigym.judge import Judge
from verigym.missing import REASON, explain
from verigym.params import P, Parameterised
from verigym.submission import identity_of, refusal
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault


class Verifier(Parameterised[P], Judge):
    """Judges submissions in this process. Subclasses set `id` and `version`, and write `judge`.

    A change that can alter any score raises `version`. `P` declares the parameters: a frozen
    `msgspec.Struct` whose fields have defaults, types, and ranges and descriptions by `msgspec.Meta`.
    `settings` holds their values; `params` is the same as plain data, which digests cover.
    """

    id: ClassVar[str]
    version: ClassVar[int]
    about: ClassVar[str] = ""
    """Description in one line: what is judged and what a submission looks like."""
    evidence: ClassVar[str] = ""
    """Description in one line: which parts of task and submission decide the score, and which are
    ignored."""
    weights: ClassVar[Mapping[str, float]] = {}
    """Weights of a verdict's parts in the score; a weight of 0 is reported but not scored."""

    @abstractmethod
    def judge(self, task: Task, submission: JSON) -> Verdict:
        """Return the verdict, built with `scored`, `unusable` or `fault`; `verify` adds the rest.

        Raise TaskError if the reference cannot be used, SandboxError if the machine failed.
        """

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Judge one submission. Never raises because of a submission; a failure is a typed status.

        A model's text that JSON cannot hold (half of a surrogate pair, NaN, a thousand brackets)
        scores 0 without being judged.
        """
        refused = refusal(submission)
        try:
            stamp = identity_of(refused, self.id, self.version, self.params, task, submission)
        except RequestError as error:
            stamp = ""
            verdict = fault(Status.VERIFIER_ERROR, "not_json", str(error))
        else:
            verdict = refused if refused is not None else self._judge(task, submission)
        return verdict.stamped(self.name, stamp)

    def _judge(self, task: Task, submission: JSON) -> Verdict:
        try:
            return self.judge(task, submission)
        except SandboxError as error:
            return fault(Status.INFRA, "sandbox_error", str(error))
        except MissingError as error:
            return fault(Status.VERIFIER_ERROR, REASON, str(error))
        except ModuleNotFoundError as error:
            known = explain(error, self.id)
            if known is None:
                return fault(Status.VERIFIER_ERROR, "crashed", f"{type(error).__name__}: {error}")
            return fault(Status.VERIFIER_ERROR, REASON, str(known))
        except TaskError as error:
            return fault(Status.VERIFIER_ERROR, "bad_task", str(error))
        except Exception as error:  # noqa: BLE001
            # Anything else is a bug of the verifier. It becomes a fault that names itself; it must
            # not unwind into a caller that would be tempted to write 0 (laws 1 and 7).
            return fault(Status.VERIFIER_ERROR, "crashed", f"{type(error).__name__}: {error}")

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return `verify(task, submission)` for each pair, in order."""
        return [self.verify(task, submission) for task, submission in items]

    def describe(self) -> dict[str, Any]:
        """Return the service's listing: id, version, parameters with their schema, and descriptions."""
        return {
            "id": self.id,
            "version": self.version,
            "params": dict(self.params),
            "about": self.about,
            "schema": self.schema(),
            "evidence": self.evidence,
            "weights": dict(self.weights),
        }
