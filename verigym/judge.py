"""`Judge`: the interface for getting verdicts, wherever they are computed.

A `Verifier` judges in this process, `Pooled` asks worker processes, `Cached` looks in a cache first and
`RemoteVerifier` asks a service. All are judges, so environments, trainers and tests work with any of
them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from verigym.canonical import JSON
from verigym.submission import identity
from verigym.task import Task
from verigym.verdict import Verdict


class Judge(ABC):
    """Gives verdicts on submissions under one id, version and set of parameters.

    Equal tasks and submissions get verdicts of equal digest from every judge of the same id, version
    and parameters (law 6). Implementations set the three attributes and write `verify_batch`.
    """

    prefers_batches: ClassVar[bool] = False
    """True if one call for many submissions costs less than a call for each in threads of their own, as
    with requests to a service; the episode loop then collects submissions for `verify_each`."""

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
        """Return the digest of a verdict, over judge, version, parameters, task and submission (law 6).

        Raises RequestError if the task or the submission is not plain data.
        """
        return identity(self.id, self.version, self.params, task, submission)

    @abstractmethod
    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        """Return a verdict for each pair of task and submission, in order.

        Never raises because of a submission: a failure is a fault, a verdict without a score.
        """

    def verify(self, task: Task, submission: JSON) -> Verdict:
        """Return the verdict on one submission."""
        return self.verify_batch([(task, submission)])[0]

    def verify_each(self, items: Iterable[tuple[Task, JSON]]) -> Iterator[tuple[int, Verdict]]:
        """Yield each verdict with its place among `items`, as soon as it is known."""
        yield from enumerate(self.verify_batch(items))
