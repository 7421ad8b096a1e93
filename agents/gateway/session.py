"""One session: the calls of one run of an agent program, as turns with the ids that were sampled."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence

from verigym.agents.gateway.batches import Batches
from verigym.agents.gateway.chat import ChatCall, ChatMessage, ChatReply
from verigym.agents.gateway.memory import CallMemory
from verigym.agents.gateway.replies import as_message, cut_at_stop, read_reply
from verigym.agents.gateway.served import ServedEnv, ServedFault
from verigym.agents.gateway.streams import PartialReply
from verigym.agents.policies.chat_tokens import ChatTokens
from verigym.agents.policy import Completion
from verigym.episode import Fault, Turn
from verigym.errors import PolicyError, RequestError


class SessionEnded(RequestError):
    """The session takes no further calls."""


class GatewaySession:
    """Calls of one agent program. All methods but `end_soon` belong to the gateway's event loop.

    `key` seeds the samples: call n draws from (*key, n). `token` is the key that a client must show, None for
    the gateway's own. `served` is the environment that the program acts on, if there is one.
    """

    def __init__(
        self,
        id: str,
        tokens: ChatTokens,
        batches: Batches,
        *,
        max_context: int,
        key: tuple[int, ...],
        token: str | None = None,
        served: ServedEnv | None = None,
        max_calls: int = 1000,
    ) -> None:
        self.id = id
        self.key = key
        self.token = token
        self.served = served
        self.turns: list[Turn] = []
        self.fault: Fault | None = None
        self.bug: Exception | None = None
        self.is_closed = False
        self.used_at = time.monotonic()
        self._memory = CallMemory(tokens, max_context)
        self._tokens = tokens
        self._batches = batches
        self._max_context = max_context
        self._max_calls = max_calls
        self._n_calls = 0
        self._calls_in_state: dict[str, int] = {}
        self._running: set[asyncio.Task[ChatReply]] = set()
        self._waited_s = 0.0
        self._waits_since = 0.0

    @property
    def waited_s(self) -> float:
        """Seconds in which at least one call waited for the model."""
        since = self._waits_since
        return self._waited_s + (time.monotonic() - since if since else 0.0)

    def start(self, call: ChatCall, parts: PartialReply | None = None) -> asyncio.Task[ChatReply]:
        """Begin to answer `call`; a task that is cancelled leaves no record. `parts` gets what is sampled, as it is.

        Raises SessionEnded, ContextFull, or RequestError for a call that cannot be answered.
        """
        if self.is_closed:
            raise SessionEnded(f"session {self.id} has ended")
        if self._n_calls >= self._max_calls:
            raise SessionEnded(f"session {self.id} has made its {self._max_calls} calls")
        if call.max_tokens is not None and call.max_tokens < 1:
            raise RequestError(f"the limit of tokens must be at least 1, got {call.max_tokens}")
        call = self._memory.whole(call)
        prompt = self._memory.prompt(call)
        number = self._n_calls
        self._n_calls += 1
        self.used_at = time.monotonic()
        if parts is not None:
            parts.begin(prompt.text or "", len(prompt.ids or ()), self._tokens.decode)

        async def answer() -> ChatReply:
            ids = prompt.ids or []
            limit = min(self._batches.params.max_tokens, self._max_context - len(ids))
            limit = limit if call.max_tokens is None else min(limit, call.max_tokens)
            began = time.perf_counter()
            try:
                watch = None if parts is None else parts.feed
                sample = await self._batches.sample(ids, limit, (*self.key, number), watch)
                if sample.finish_reason == "abort":
                    raise PolicyError("the engine aborted the request")
            except PolicyError as error:
                self.fault = Fault(cause="policy_error", detail=str(error))
                raise
            except Exception as error:
                # A bug, of the engine's: the client is answered with it, and the owner raises it.
                self.bug = error
                self.fault = Fault(cause=f"bug:{type(error).__name__}", detail=str(error))
                raise
            said = cut_at_stop(sample, call.stop, self._tokens.decode)
            reply = read_reply(call, said, len(ids), self._tokens.decode)
            ended = bool(said.ids) and said.ids[-1] in self._tokens.end_ids
            completion = Completion(
                text=said.text,
                prompt_ids=ids,
                response_ids=said.ids,
                logprobs=said.logprobs,
                mask=[1] * len(said.ids),
                # Without an end token, the template's own belongs to the next prompt.
                finish_reason="stop" if ended else "length",
                policy_version=min((span.version for span in sample.versions), default=0),
                generate_s=time.perf_counter() - began,
            )
            shown = reply if parts is None else parts.settle(reply)
            self._memory.remember(call, prompt, completion, as_message(shown), shown.id)
            self.turns.append(self._turn(call.messages, completion, reply))
            return shown

        if not self._running:
            self._waits_since = time.monotonic()
        task = asyncio.get_running_loop().create_task(answer())
        self._running.add(task)
        task.add_done_callback(self._on_done)
        return task

    def count_tokens(self, call: ChatCall) -> int:
        """Return the number of tokens of the prompt of `call`."""
        return len(self._memory.prompt(self._memory.whole(call)).ids or ())

    async def step(self, action: str, deadline_s: float) -> dict[str, object]:
        """Act on the environment. Raises RequestError, or ServedFault, which the episode carries."""
        if self.served is None:
            raise RequestError(f"session {self.id} has no environment")
        self.used_at = time.monotonic()
        self._calls_in_state.clear()
        try:
            async with asyncio.timeout(deadline_s):
                return await asyncio.to_thread(self.served.step, action, len(self.turns) - 1)
        except TimeoutError as error:
            detail = f"an environment step took more than {deadline_s:g} s"
            self.fault = Fault(cause="env_timeout", detail=detail)
            raise ServedFault(self.fault) from error
        except ServedFault as error:
            self.fault = error.fault
            raise

    async def end(self) -> None:
        """Take no further calls, and drop those that wait."""
        self.is_closed = True
        if self.served is not None:
            self.served.is_closed = True
        for task in list(self._running):
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def _on_done(self, task: asyncio.Task[ChatReply]) -> None:
        self._running.discard(task)
        if not self._running:
            self._waited_s += time.monotonic() - self._waits_since
            self._waits_since = 0.0
        if not task.cancelled():
            task.exception()  # whoever awaits it has it too; a client that is gone does not

    def _turn(self, messages: Sequence[ChatMessage], answer: Completion, reply: ChatReply) -> Turn:
        new: list[str] = []
        for message in reversed(messages):
            if message.role == "assistant":
                break
            new.append(message.content)
        state = "call" if self.served is None else self.served.state_key
        seen = self._calls_in_state.get(state, 0)
        self._calls_in_state[state] = seen + 1
        return Turn(
            observation="\n\n".join(reversed(new)),
            response=answer.text,
            action=reply.content,
            reward=0.0,
            # Calls in one state of the environment are not alike: the first, the second, ...
            state_key=state if seen == 0 else f"{state}+{seen}",
            prompt_ids=answer.prompt_ids,
            response_ids=answer.response_ids,
            logprobs=answer.logprobs,
            mask=answer.mask,
            prompt_tokens=len(answer.prompt_ids),
            response_tokens=len(answer.response_ids),
            policy_version=answer.policy_version,
            generate_s=answer.generate_s,
        )


def new_id() -> str:
    """Return an id that nobody can guess."""
    return secrets.token_hex(8)
