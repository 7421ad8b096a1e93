"""`Judge`: what everyone asks for verdicts, wherever they are made.

A `Verifier` judges in this process. `Pooled` asks worker processes, `Cached` a cache first,
`RemoteVerifier` a service: each is a judge, so an environment, a trainer or a test does not know which
one it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from verigym.canonical import JSON
from verigym.submission import identity
from verigym.task import Task
from verigym.verdict import Verdict


class Judge(ABC):
    """Gives verdicts on submissions under one id, version and set of parameters.

    Equal tasks and submissions get verdicts of equal digest from every judge of the same id, version
    and parameters (law 6). Implementations set the three attributes and write `verify_batch`.
    """

    if TYPE_CHECKING:  # read-only to callers; a class, an instance or a property may hold them

        @property
        def id(self) -> str: ...
        @property
        def version(self) -> int: ...
        @property
        def params(self) -> Mapping[str, JSON]: ...

    @property
    def name(self) -> str:
        """`id@version`, as verdicts carry it."""
        return f"{self.id}@{self.version}"

    def digest(self, task: Task, submission: JSON) -> str:
        """Return the digest of a verdict: of judge, version, parameters, task and submission (law 6).

        Raises RequestError if the task or the submission is not plain data.
        """
        return identity(self.id, self.version, self.params, task, submission)

    @abstractmethod
    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return a verdict for each pair of task and submission, in order.

        Never raises for what was submitted: a failure is a fault, a verdict without a score.
        """

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Return the verdict on one submission."""
        return self.verify_batch([(task, submission)])[0]
