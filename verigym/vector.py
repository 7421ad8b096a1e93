"""`make_vec`: several instances of one environment behind Gymnasium's vector interface.

    envs = verigym.make_vec("keydoor", 16)
    observations, infos = envs.reset(seed=7)  # instance i gets seed 7 + i
    observations, rewards, terminated, truncated, infos = envs.step(actions)

Which mode: `sync` steps one after the other in this thread, best where a step costs microseconds, as
games do; a service judges all that one step submits in one request. `thread` steps all at once in threads,
for steps that wait, as for programs in the sandbox. `process` gives each instance a process, for steps that compute for milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

import gymnasium
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.async_vector_env import AsyncState
from gymnasium.vector.utils import iterate

from verigym.canonical import JSON
from verigym.env import Env
from verigym.errors import RequestError, suggestion
from verigym.registry import make, resolve
from verigym.verdict import Verdict, VerifierFault
from verigym.verifier import Verifier

MODES = ("sync", "thread", "process")

Mode = Literal["sync", "thread", "process"]


def make_vec(
    name: str,
    num_envs: int,
    *,
    mode: Mode = "sync",
    autoreset: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    **kwargs: Any,
) -> VectorEnv[Any, Any, Any]:
    """`num_envs` instances of the environment `name`, each made with `kwargs`.

    `autoreset` is Gymnasium's: what ended is reset by the next step ("NextStep"), by the same one
    ("SameStep"), or by the caller ("Disabled"). A fault of a verifier is raised by `step`; the instances
    may then be at different steps, so reset them; in mode `process` the one that raised it has ended, so
    close them all and make them again. Close it: threads and processes end with it.
    """
    if mode not in MODES:
        raise RequestError(f"no mode {mode!r}; {suggestion(mode, MODES)}")
    if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
        raise RequestError(f"num_envs must be a whole number of at least 1, got {num_envs!r}")
    try:
        autoreset = AutoresetMode(autoreset)
    except ValueError as error:
        known = [one.value for one in AutoresetMode]
        raise RequestError(
            f"no autoreset {autoreset!r}; {suggestion(str(autoreset), known)}"
        ) from error
    maker = partial(make, resolve(name), **kwargs)
    makers: list[Callable[[], Env[Any]]] = [maker] * num_envs
    if mode == "process":
        # Through shared memory Gymnasium reads text once, when the space is made.
        return ProcessVectorEnv(makers, shared_memory=False, autoreset_mode=autoreset)
    if isinstance(kwargs.get("verifier"), str):
        # One client for all, so that one request can judge for all.
        makers = [partial(_sharing, maker, maker().verifier)] * num_envs
    if mode == "thread":
        return ThreadVectorEnv(makers, autoreset_mode=autoreset)
    return BatchVectorEnv(makers, autoreset_mode=autoreset)


class BatchVectorEnv(SyncVectorEnv):
    """A `SyncVectorEnv` that has all that one step submits judged at once by verifiers which take many at
    a time, as a service does."""

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """As `SyncVectorEnv.step`."""
        _check_number(actions, self.num_envs)
        resets = self._autoreset_envs & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        waiting: dict[int, list[tuple[Env[Any], JSON]]] = {}
        for wrapped, action, reset in zip(
            self.envs, iterate(self.action_space, actions), resets, strict=True
        ):
            env = wrapped.unwrapped
            assert isinstance(env, Env)
            if not reset and type(env.verifier).verify_batch is not Verifier.verify_batch:
                submission = env.to_judge(action)
                if submission is not None:
                    waiting.setdefault(id(env.verifier), []).append((env, submission))
        found: list[tuple[Env[Any], JSON, Verdict, float]] = []
        for batch in waiting.values():
            began = time.perf_counter()
            verdicts = batch[0][0].verifier.verify_batch([(env.task, s) for env, s in batch])
            each_s = (time.perf_counter() - began) / len(batch)
            for (env, submission), verdict in zip(batch, verdicts, strict=True):
                if verdict.fault:
                    raise VerifierFault(
                        verdict
                    )  # nothing has moved yet, so the step may be repeated
                found.append((env, submission, verdict, each_s))
        for env, submission, verdict, each_s in found:
            env.expect(submission, verdict, each_s)
        return super().step(actions)


def _sharing(maker: partial[Env[Any]], verifier: Verifier) -> Env[Any]:
    env = maker(verifier=verifier)
    env.made_with = maker.keywords  # the address of the service, which can be written down
    return env


class ThreadVectorEnv(SyncVectorEnv):
    """A `SyncVectorEnv` whose instances step at the same time, each in a thread."""

    def __init__(self, env_fns: Any, **options: Any) -> None:
        super().__init__([partial(_Ahead, one) for one in env_fns], **options)
        self._threads = ThreadPoolExecutor(self.num_envs, thread_name_prefix="verigym-vector")

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """As `SyncVectorEnv.step`, which finds each step done or under way."""
        _check_number(actions, self.num_envs)
        given = list(iterate(self.action_space, actions))
        resets = self._autoreset_envs & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        begun = [
            env.begin(self._threads, action)
            for env, action, reset in zip(self.envs, given, resets, strict=True)
            if isinstance(env, _Ahead) and not reset
        ]
        try:
            found: tuple[Any, Any, Any, Any, dict[str, Any]] = super().step(actions)
            return found
        finally:
            for future in begun:  # where one raised, the others end before the caller goes on
                future.exception()
            for env in self.envs:
                if isinstance(env, _Ahead):
                    env.forget()

    def close_extras(self, **kwargs: Any) -> None:
        """See `VectorEnv`."""
        self._threads.shutdown()
        super().close_extras(**kwargs)


class ProcessVectorEnv(AsyncVectorEnv):
    """An `AsyncVectorEnv` that raises what an instance raised, and says what to do after it."""

    def reset_async(self, *args: Any, **kwargs: Any) -> None:
        """See `AsyncVectorEnv`. Raises RequestError where an instance has ended."""
        self._check_alive()
        super().reset_async(*args, **kwargs)

    def step_async(self, actions: Any) -> None:
        """See `AsyncVectorEnv`. Raises RequestError where an instance has ended."""
        self._check_alive()
        _check_number(actions, self.num_envs)
        super().step_async(actions)

    def _check_alive(self) -> None:
        ended = [i for i, pipe in enumerate(self.parent_pipes) if pipe is None]
        if ended:
            raise RequestError(
                f"instance {ended[0]} ended with what it raised; close() these and make them again"
            )

    def _raise_if_errors(self, successes: Iterable[bool]) -> None:
        # Gymnasium's own makes another error from the one that came, which not every error can be made from.
        errors = [self.error_queue.get() for success in successes if not success]
        if not errors:
            return
        for index, *_ in errors:
            self.parent_pipes[index].close()
            self.parent_pipes[index] = None  # type: ignore[call-overload]
        self._state = AsyncState.DEFAULT
        _, kind, value, trace = errors[-1]
        error: BaseException = value if isinstance(value, BaseException) else kind(value)
        error.add_note(f"In a process of its own:\n{trace}")
        raise error


def _check_number(actions: Any, instances: int) -> None:
    if isinstance(actions, str) or len(actions) != instances:
        raise RequestError(f"one action for each of {instances} instances, got {actions!r}")


class _Ahead(gymnasium.Wrapper[str, str, str, str]):
    """An instance whose next step may have been begun elsewhere."""

    def __init__(self, make_env: Callable[[], gymnasium.Env[str, str]]) -> None:
        super().__init__(make_env())
        self._begun: Future[Any] | None = None

    def begin(self, threads: ThreadPoolExecutor, action: str) -> Future[Any]:
        self._begun = threads.submit(self.env.step, action)
        return self._begun

    def forget(self) -> None:
        self._begun = None

    def step(self, action: str) -> Any:
        begun, self._begun = self._begun, None
        return self.env.step(action) if begun is None else begun.result()
