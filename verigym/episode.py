"""`Episode` and `Turn`: the record of one episode, token ids included (law 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from verigym.canonical import to_json
from verigym.errors import RequestError
from verigym.verdict import Verdict


@dataclass(kw_only=True)
class Turn:
    """One call of the policy and what the environment answered.

    `prompt_ids` [P] went to the engine, `response_ids` [L] came out of it, with `logprobs` [L] in
    nats under the sampling distribution and `mask` [L], 1 where the policy sampled the token and 0
    where it was forced. Policies without tokens leave the four empty. `state_key` and `observation`
    are of the state in which the action was chosen. `verify_s` is the part of `step_s` that the
    verifier took. `prompt_tokens` and `response_tokens` are counts for the bill, None if nobody counted:
    a model server may count tokens and not give their ids.
    """

    observation: str
    response: str
    action: str
    reward: float
    state_key: str
    valid_action: bool = True
    prompt_ids: list[int] = field(default_factory=list)
    response_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    prompt_tokens: int | None = None
    response_tokens: int | None = None
    policy_version: int = 0
    verdict: Verdict | None = None
    generate_s: float = 0.0
    step_s: float = 0.0
    verify_s: float = 0.0

    def __post_init__(self) -> None:
        if not len(self.response_ids) == len(self.logprobs) == len(self.mask):
            raise ValueError(
                f"response_ids, logprobs and mask must have equal lengths, got "
                f"{len(self.response_ids)}, {len(self.logprobs)}, {len(self.mask)}"
            )


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Cause of an episode without an outcome. `cause` is a short code, `detail` a sentence."""

    cause: str
    detail: str


@dataclass(kw_only=True)
class Episode:
    """One play of one task. `status` is `done`, `truncated` (a limit ended it) or `fault`.

    Members of a group share `group_id` and start in the identical state. A faulted episode carries
    `fault` and stays out of every statistic. `tags` are the task's. `env_kwargs` are the arguments that the
    environment was made with, without its verifier; None in records older than the field.
    `final_observation` is that of the state after the last turn, None if there was none.
    """

    id: str
    env_id: str
    task_id: str
    seed: int
    group_id: str
    difficulty: str
    split: str
    status: str = "done"
    fault: Fault | None = None
    turns: list[Turn] = field(default_factory=list)
    policy: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    env_kwargs: dict[str, Any] | None = None
    final_observation: str | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        if self.status not in ("done", "truncated", "fault"):
            raise ValueError(f"status must be done, truncated or fault, got {self.status!r}")
        if (self.status == "fault") != (self.fault is not None):
            raise ValueError("fault must be given if status is 'fault', and must be None otherwise")

    @property
    def return_(self) -> float:
        """Return the undiscounted sum of the rewards."""
        return sum(turn.reward for turn in self.turns)

    @property
    def verdict(self) -> Verdict | None:
        """Last verdict; None if nothing was judged."""
        return next((t.verdict for t in reversed(self.turns) if t.verdict is not None), None)

    @property
    def success(self) -> bool:
        """True if the last verdict gives full marks; False for a faulted episode."""
        verdict = self.verdict
        return self.status != "fault" and verdict is not None and verdict.score == 1.0

    def to_builtins(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def to_json(self) -> bytes:
        """Return canonical JSON on one line."""
        return to_json(self)

    @staticmethod
    def from_json(data: bytes | str) -> Episode:
        """Read what `to_json` returned. Raises RequestError on malformed input."""
        try:
            return msgspec.json.decode(data, type=Episode)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RequestError(f"not an episode: {error}") from error
