"""Operations that the oracle's play takes, and the success of a policy that errs in some of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from verigym.env import Env
from verigym.envs.check.subject import bounded


@dataclass(frozen=True)
class OracleTurn:
    """One turn of the oracle: the operations that it takes (`Env.work`), its reward and its action."""

    operations: int
    reward: float
    action: str = ""


def play(env: Env[Any], seed: int, difficulty: str) -> list[OracleTurn]:
    """Play a task as the oracle does."""
    env.reset(seed=seed, options={"difficulty": difficulty})
    return play_on(env)


def play_on(env: Env[Any]) -> list[OracleTurn]:
    """Play from the current state to the end as the oracle does."""
    turns: list[OracleTurn] = []
    over = False
    while not over:
        bounded(env, len(turns))
        operations, action = env.work(env.state), env.oracle()
        _, reward, terminated, truncated, _ = env.step(action)
        turns.append(OracleTurn(operations, reward, action))
        over = terminated or truncated
    return turns


def noisy_return(turns: Iterable[OracleTurn], rate: float) -> float:
    """Return the mean return of a policy that plays as the oracle does, gets each operation wrong with
    probability `rate`, and gives up when it errs."""
    sure, total = 1.0, 0.0
    for turn in turns:
        sure *= (1 - rate) ** turn.operations
        total += sure * turn.reward
    return total


def count_lines(env: Env[Any]) -> tuple[int, int]:
    """Return the operations that `env.work` counts in the current state, and the number of lines that it
    executed meanwhile.

    Lines count in the packages of the environment and its bases, so that the library's own loops, in
    which nothing is counted, do not stand in for operations.
    """
    roots = {kind.__module__.partition(".")[0] for kind in type(env).__mro__} - {
        *("abc", "builtins", "gymnasium", "typing")
    }
    state, lines = env.state, 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if frame.f_globals.get("__name__", "").partition(".")[0] not in roots:
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        operations = env.work(state)
    finally:
        sys.settrace(before)
    return operations, lines
