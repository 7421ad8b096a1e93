"""`Verifier`, the class that an author subclasses: `(task, submission) -> Verdict`; versioned and pure."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from verigym import params as parameters
from verigym.canonical import JSON
from verigym.errors import MissingError, RequestError, SandboxError, TaskError, suggestion
from verigym.judge import Judge
from verigym.missing import REASON, explain
from verigym.submission import identity_of, refusal
from verigym.task import Task
from verigym.verdict import Status, Verdict, fault


class Verifier(Judge):
    """Judges submissions in this process. Subclasses set `id`, `version` and `defaults`, and write `judge`.

    A change that can alter any score raises `version`. Parameters are plain JSON values that fit
    `schema()`; an unknown one is refused.
    """

    id: ClassVar[str]
    version: ClassVar[int]
    defaults: ClassVar[Mapping[str, JSON]] = {}
    param_schemas: ClassVar[Mapping[str, Mapping[str, JSON]]] = {}
    """JSON Schema keywords by parameter, beyond what the defaults imply: `description`, `enum`, `minimum`
    and the like. If no type is given, it is that of the default."""
    about: ClassVar[str] = ""
    """Description in one line: what is judged and what a submission looks like."""
    evidence: ClassVar[str] = ""
    """Description in one line: which parts of task and submission decide the score, and which are
    ignored."""
    weights: ClassVar[Mapping[str, float]] = {}
    """Weights of a verdict's parts in the score; a weight of 0 is reported but not scored."""

    def __init__(self, **params: JSON) -> None:
        known = self.schema()["properties"]
        for name in params:
            if name not in known:
                raise RequestError(
                    f"verifier {self.id} has no parameter {name!r}; {suggestion(name, known)}"
                )
        given = {name: parameters.check(name, v, known[name]) for name, v in params.items()}
        self.params: dict[str, JSON] = {**self.defaults, **given}

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the parameters: types, ranges, choices, defaults and descriptions."""
        return parameters.schema_of(self.defaults, self.param_schemas)

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
