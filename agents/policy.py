"""`Policy`: turns prompts into completions, with token ids and log-probabilities where it has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from verigym.env import Env
from verigym.errors import PolicyError

Message: TypeAlias = Mapping[str, str]
"""`{"role": "system" | "user" | "assistant", "content": text}`."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One prompt. `key` (run seed, episode, turn) alone decides what is sampled for it.

    `prompt_ids`, where given, is what the policy reads; otherwise it renders `messages`. `env` is
    the live environment, at rest, for policies that look inside it (oracle, random).
    """

    messages: list[Message]
    prompt_ids: list[int] | None = None
    env: Env[Any] | None = None
    key: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A policy's answer to one request.

    `response_ids` [L], `logprobs` [L] (nats, under the distribution sampled from) and `mask` [L] (1
    on sampled tokens, the end token included) are empty if the policy has no tokens.
    `finish_reason` is `stop`, or `length` if a limit cut the answer. `generate_s` is this request's
    share of its batch's seconds, so that sums over requests are correct.
    """

    text: str
    prompt_ids: list[int] = field(default_factory=list)
    response_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    finish_reason: Literal["stop", "length"] = "stop"
    policy_version: int = 0
    generate_s: float = 0.0


class Policy(Protocol):
    """Interface of a policy for the episode loop.

    A policy may also have `version: int` (raised by the trainer at each update), `concurrency: int`
    (how many `complete` calls may run at once, from different threads; 1 if absent), and
    `max_context: int` (tokens of prompt and response together).
    """

    @property
    def name(self) -> str:
        """Which policy this is, for records."""

    @property
    def max_batch(self) -> int:
        """The most requests that one `complete` call takes."""

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """One completion a request, in order. Raises PolicyError for faults of the model server."""


@runtime_checkable
class Tokenizing(Protocol):
    """A policy that can say which ids it will read for some messages."""

    def tokenize(self, messages: Sequence[Message]) -> list[int]:
        """Ids of the rendered messages, generation prompt included."""


@runtime_checkable
class Templating(Tokenizing, Protocol):
    """A policy that shows both halves of `tokenize`; the growing transcript needs them."""

    def render(self, messages: Sequence[Message]) -> str:
        """The chat template's text, generation prompt included."""

    def encode(self, text: str) -> list[int]:
        """Ids of rendered text; adds no special token of its own."""


class PolicyRefusal(PolicyError):
    """The model server understood the request and refused it; the same request is not repeated."""
