"""Operations that the oracle's play takes, and the success of a policy that errs in some of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median
from types import FrameType
from typing import Any

from verigym.env import Env
from verigym.envs.check.subject import bounded

ERROR_RATE = 0.001
"""Error rate of the noisy policy, per operation. It fails every second time at 693 operations."""


@dataclass(frozen=True)
class OracleTurn:
    """One turn of the oracle: the operations that it takes (`Env.work`), and its reward."""

    operations: int
    reward: float


@dataclass(frozen=True)
class Measured:
    """Figures of one level: the median of the operations along the oracle's play, and the mean return of
    the noisy policy."""

    level: int
    name: str
    operations: float
    noisy_success: float


def play(env: Env[Any], seed: int, difficulty: str) -> list[OracleTurn]:
    """Play a task as the oracle does."""
    env.reset(seed=seed, options={"difficulty": difficulty})
    turns: list[OracleTurn] = []
    over = False
    while not over:
        bounded(env, len(turns))
        operations = env.work(env.state)
        _, reward, terminated, truncated, _ = env.step(env.oracle())
        turns.append(OracleTurn(operations, reward))
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


def measure(env: Env[Any], difficulty: str, seeds: Iterable[int]) -> Measured:
    """Measure one level."""
    plays = [play(env, seed, difficulty) for seed in seeds]
    return Measured(
        level=env.level_of(difficulty),
        name=difficulty,
        operations=median(sum(turn.operations for turn in turns) for turns in plays),
        noisy_success=fmean(noisy_return(turns, ERROR_RATE) for turns in plays),
    )


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
