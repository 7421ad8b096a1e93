"""`make_vec`: several instances of one environment behind Gymnasium's vector interface.

    envs = verigym.make_vec("keydoor", 16)
    observations, infos = envs.reset(seed=7)  # instance i gets seed 7 + i
    observations, rewards, terminated, truncated, infos = envs.step(actions)

Choose a mode: `sync` steps the instances in turn in this thread, best if a step takes microseconds, as in
games; a service judges all submissions of one step in one request. `thread` steps all instances at once
in threads, for steps that wait, as for programs in the sandbox. `process` gives each instance a process,
for steps that compute for milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

import gymnasium
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.async_vector_env import AsyncState
from gymnasium.vector.utils import iterate
from typing_extensions import override

from verigym.env import Env, Move
from verigym.errors import RequestError, suggestion
from verigym.judge import Judge
from verigym.making import make
from verigym.moves import ask, by_judge, can_propose
from verigym.registry import resolve
from verigym.verdict import Verdict, VerifierFault

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
    """Make a vector environment of `num_envs` instances of `name`, each made with `kwargs`.

    `autoreset` is Gymnasium's: the next step resets an ended instance ("NextStep"), or the same step
    ("SameStep"), or the caller ("Disabled"). `step` raises a verifier's fault; the instances may then be
    at different steps, so reset them. In mode `process` the instance that raised it has ended, so close
    the vector environment and make it again. Close it when done: its threads and processes end then.
    """
    if mode not in MODES:
        raise RequestError(f"unknown mode {mode!r}; {suggestion(mode, MODES)}")
    if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
        raise RequestError(f"num_envs must be a whole number of at least 1, got {num_envs!r}")
    try:
        autoreset = AutoresetMode(autoreset)
    except ValueError as error:
        known = [one.value for one in AutoresetMode]
        raise RequestError(
            f"unknown autoreset {autoreset!r}; {suggestion(str(autoreset), known)}"
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
    """A `SyncVectorEnv` that proposes all moves, judges them in one batch per verifier, and commits
    them."""

    def __init__(self, env_fns: Any, **options: Any) -> None:
        super().__init__([partial(_ahead, one) for one in env_fns], **options)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all instances. A verifier's fault leaves all of them unchanged: the step may be repeated."""
        _check_number(actions, self.num_envs)
        resets = self._autoreset_envs & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        moves: list[tuple[_Ahead, Move[Any]]] = []
        for env, action, reset in zip(
            self.envs, iterate(self.action_space, actions), resets, strict=True
        ):
            assert isinstance(env, _Ahead)
            if not reset and can_propose(env.inner):
                moves.append((env, env.inner.propose(action)))
        verdicts: dict[int, Verdict] = {}
        for judge, batch in by_judge(
            (env.inner.verifier, move) for env, move in moves if move.submission is not None
        ):
            for place, found in ask(judge, batch):
                if isinstance(found, Exception):
                    raise found
                if found.fault:
                    raise VerifierFault(found)
                verdicts[id(batch[place])] = found
        for env, move in moves:
            env.begun = partial(env.inner.commit, move, verdicts.get(id(move)))
        try:
            return super().step(actions)
        finally:
            for env, _ in moves:  # if one of them raised, the others have not used theirs
                env.begun = None


def _sharing(maker: partial[Env[Any]], verifier: Judge) -> Env[Any]:
    env = maker(verifier=verifier)
    env.made_with = maker.keywords  # the address of the service, which can be written down
    return env


class ThreadVectorEnv(SyncVectorEnv):
    """A `SyncVectorEnv` whose instances step at the same time, each in a thread."""

    def __init__(self, env_fns: Any, **options: Any) -> None:
        super().__init__([partial(_ahead, one) for one in env_fns], **options)
        self._threads = ThreadPoolExecutor(self.num_envs, thread_name_prefix="verigym-vector")

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Start all steps in threads, then collect them with `SyncVectorEnv.step`."""
        _check_number(actions, self.num_envs)
        given = list(iterate(self.action_space, actions))
        resets = self._autoreset_envs & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        futures: list[Future[Any]] = []
        for env, action, reset in zip(self.envs, given, resets, strict=True):
            if isinstance(env, _Ahead) and not reset:
                futures.append(self._threads.submit(env.env.step, action))
                env.begun = futures[-1].result
        try:
            found: tuple[Any, Any, Any, Any, dict[str, Any]] = super().step(actions)
            return found
        finally:
            for future in futures:  # where one raised, the others end before the caller goes on
                future.exception()
            for env in self.envs:
                if isinstance(env, _Ahead):
                    env.begun = None

    @override
    def close_extras(self, **kwargs: Any) -> None:
        self._threads.shutdown()
        super().close_extras(**kwargs)


class ProcessVectorEnv(AsyncVectorEnv):
    """An `AsyncVectorEnv` that raises an instance's own error, and says what to do next."""

    @override
    def reset_async(self, *args: Any, **kwargs: Any) -> None:
        """Raise RequestError if an instance has ended, else continue as usual."""
        self._check_alive()
        super().reset_async(*args, **kwargs)

    @override
    def step_async(self, actions: Any) -> None:
        """Raise RequestError if an instance has ended, else continue as usual."""
        self._check_alive()
        _check_number(actions, self.num_envs)
        super().step_async(actions)

    def _check_alive(self) -> None:
        ended = [i for i, pipe in enumerate(self.parent_pipes) if pipe is None]
        if ended:
            raise RequestError(
                f"instance {ended[0]} ended with an error; close() the vector environment and make it again"
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
        raise RequestError(f"give one action for each of {instances} instances, got {actions!r}")


class _Ahead(gymnasium.Wrapper[str, str, str, str]):
    """An instance whose next step may have been started in another thread."""

    begun: Callable[[], Any] | None = None
    """Function that returns the result of the next `step`; None if no step was started."""

    @property
    def inner(self) -> Env[Any]:
        bare = self.unwrapped
        assert isinstance(bare, Env)
        return bare

    def step(self, action: str) -> Any:
        begun, self.begun = self.begun, None
        return self.env.step(action) if begun is None else begun()


def _ahead(make_env: Callable[[], gymnasium.Env[str, str]]) -> _Ahead:
    return _Ahead(make_env())
