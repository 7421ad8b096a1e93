"""`Policy`: turns prompts into completions, with token ids and log-probabilities if available."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeGuard, runtime_checkable

import msgspec

from verigym.env import Env
from verigym.errors import PolicyError

Message: TypeAlias = Mapping[str, str]
"""`{"role": "system" | "user" | "assistant" | "tool", "content": text}`."""


# Structs: a turn makes one of each, and a frozen dataclass takes twelve times as long to make.


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt. `key` (run seed, episode, turn) alone determines its samples.

    The policy reads `prompt_ids` if given, else it renders `messages`. `env` is the live environment,
    idle, for policies that look inside it (oracle, random). `grows` is True if the next prompt of the episode,
    `key` without its last number, may begin with this prompt and its answer.
    """

    messages: list[Message]
    prompt_ids: list[int] | None = None
    env: Env[Any] | None = None
    key: tuple[int, ...] = ()
    grows: bool = False


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A policy's answer to one request.

    `response_ids` [L], `logprobs` [L] (nats, under the distribution sampled from) and `mask` [L] (1
    on sampled tokens, the end token included) are empty if the policy has no tokens. `prompt_tokens` and
    `response_tokens` are what a model server counted, None if it did not say. `finish_reason` is `stop`, or `length` if a limit cut the answer. `generate_s` is this request's
    share of its batch's seconds, so that sums over requests are correct.
    """

    text: str
    prompt_ids: list[int] = []
    response_ids: list[int] = []
    logprobs: list[float] = []
    mask: list[int] = []
    prompt_tokens: int | None = None
    response_tokens: int | None = None
    finish_reason: Literal["stop", "length"] = "stop"
    policy_version: int = 0
    generate_s: float = 0.0


class Policy(Protocol):
    """Interface of a policy for the episode loop.

    A policy may also have `version: int` (raised by the trainer at each update), `concurrency: int`
    (how many `complete` calls may run at once, from different threads; 1 if absent),
    `max_context: int` (tokens of prompt and response together), and `forget(episode)`, called with the key
    of an episode, without a turn, once it has ended. One that is `Asynchronous` is called through `begin`.
    """

    @property
    def name(self) -> str:
        """Name of the policy, for records."""

    @property
    def max_batch(self) -> int:
        """Maximum number of requests in one `complete` call."""

    def complete(self, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order. Raises PolicyError if the model server fails."""


@runtime_checkable
class Asynchronous(Protocol):
    """A policy that needs no thread for each call under way."""

    def begin(
        self, requests: Sequence[Request], done: Callable[[list[Completion] | BaseException], None]
    ) -> Callable[[], None]:
        """Begin `complete` and return at once; `done` is called from another thread, exactly once.

        The function returned cancels the call, after which `done` is called as soon as it has ended.
        """


@runtime_checkable
class Tokenizing(Protocol):
    """A policy that can return the ids that it reads for given messages."""

    def tokenize(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None = None
    ) -> list[int]:
        """Return the ids of the rendered messages, generation prompt included.

        `tools`, given only if there are some, are functions as the chat API describes them.
        """


@runtime_checkable
class Templating(Tokenizing, Protocol):
    """A policy with both halves of `tokenize`, which the growing transcript needs."""

    def render(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None = None
    ) -> str:
        """Return the chat template's text, generation prompt included."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of rendered text; adds no special token."""


# A check of each prompt; `isinstance` with a protocol takes a hundred times as long as looking for its methods.


def is_tokenizing(policy: object) -> TypeGuard[Tokenizing]:
    """Return True if `policy` is `Tokenizing`."""
    return hasattr(policy, "tokenize")


def is_templating(policy: object) -> TypeGuard[Templating]:
    """Return True if `policy` is `Templating`."""
    return hasattr(policy, "tokenize") and hasattr(policy, "render") and hasattr(policy, "encode")


class PolicyRefusal(PolicyError):
    """The model server understood the request and refused it; it is not retried."""
