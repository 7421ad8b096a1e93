"""Judges the members of a group together: `POST /v1/verify/group`.

The group verifier itself only compares verdicts, here; every question that it asks is judged by a worker
of the pool like any other submission, with a deadline that kills. Group verifiers of other packages are
not served, since their code would run in this process.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any, ClassVar

import msgspec

from verigym.builtin import read_tables
from verigym.errors import RequestError, suggestion
from verigym.group import GroupVerifier
from verigym.registry import find_group_verifier
from verigym.server.body import TaskBody, VerifyBody
from verigym.server.refusals import Refusal
from verigym.verdict import Verdict
from verigym.verifiers.pool import VerifierPool
from verigym.verifiers.pooled import Pooled

_AT_ONCE = 16
"""Maximum number of questions in the queue at once, so that a group leaves room for other callers."""


class JudgeBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The verifier that a group verifier asks about members and pairs of members."""

    verifier: str
    params: dict[str, Any] = {}


class GroupBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Submissions to one task, judged together; the verdicts come in the same order.

    `timeout_s` bounds each question that the group verifier asks.
    """

    written_by_models: ClassVar[str] = "submissions"
    verifier: str
    of: JudgeBody
    task: TaskBody  # type: ignore[valid-type]
    submissions: list[Any]
    params: dict[str, Any] = {}
    timeout_s: float | None = None

    def question(self) -> VerifyBody:
        """Return the request about one member; the service checks it as it checks any other."""
        return VerifyBody(
            verifier=self.of.verifier,
            task=self.task,
            submission=None,
            params=self.of.params,
            timeout_s=self.timeout_s,
        )


class GroupCard(msgspec.Struct):
    """A group verifier: the fields of `VerifierCard`, without weights of parts."""

    id: str
    version: int
    params: dict[str, Any]
    about: str
    schema: dict[str, Any]
    evidence: str


class GroupList(msgspec.Struct):
    """The group verifiers of the service."""

    verifiers: list[GroupCard]


@cache
def list_cards() -> list[dict[str, Any]]:
    """Return the description of every group verifier that is served."""
    return [find_group_verifier(name).describe() for name in sorted(read_tables("group_verifiers"))]


async def make_group(ask: GroupBody, pool: VerifierPool) -> GroupVerifier:
    """Return the group verifier that a request names, asking `pool`. Raises Refusal."""
    known = read_tables("group_verifiers")
    if ask.verifier not in known:
        message = f"unknown group verifier; {suggestion(ask.verifier, known)}"
        raise Refusal(404, "unknown_verifier", message, "$.verifier")
    try:
        # The description of the judge is a worker's, which may have to load it first.
        of = await asyncio.to_thread(Pooled, pool, ask.of.verifier, ask.of.params)
    except RequestError as error:
        raise Refusal(422, "bad_params", str(error), "$.of.params") from error
    try:
        return find_group_verifier(ask.verifier)(of, **ask.params)
    except RequestError as error:
        raise Refusal(422, "bad_params", str(error), "$.params") from error


async def judge_group(
    group: GroupVerifier,
    ask: GroupBody,
    pool: VerifierPool,
    *,
    timeout_s: float,
    deadline: float,
    lane: str,
) -> list[Verdict]:
    """Return the verdicts on the members in order. Raises Refusal, PoolBusy or PoolClosed.

    Members without a verdict at `deadline`, of `time.monotonic`, get one of status `timeout`.
    """
    asking = group.ask(ask.question().to_task(), ask.submissions)
    try:
        questions = next(asking)
    except RequestError as error:
        raise Refusal(422, "invalid_request", str(error), "$.submissions") from error
    while True:
        verdicts: list[Verdict] = []
        for start in range(0, len(questions), _AT_ONCE):
            verdicts += await pool.verify_batch_async(
                ask.of.verifier,
                questions[start : start + _AT_ONCE],
                params=ask.of.params,
                timeout_s=timeout_s,
                wait_s=timeout_s,
                deadline=deadline,
                lane=lane,
            )
        try:
            questions = asking.send(verdicts)
        except StopIteration as done:
            members: list[Verdict] = done.value
            return members
