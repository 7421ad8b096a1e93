"""Figures of an environment level by level, without a model: `verigym levels` shows them.

The oracle is played on a few tasks of each level. From its play follow the operations, the lengths, and the
success of a policy that errs; shortcuts (`shortcuts.py`) are played on the same tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, median, stdev
from typing import Any

from verigym.env import Env
from verigym.envs.check.cheap_answers import read_form
from verigym.envs.check.cheap_play import Played
from verigym.envs.check.operations import OracleTurn, noisy_return, play_on
from verigym.envs.check.shortcuts import KINDS, Rewards, kind_of, play_shortcuts
from verigym.verifiers.audit.intervals import wilson

ERROR_RATES = (0.1, 0.01, 0.001)
"""Error rates of the noisy policy, per operation. At 0.001 it fails every second time at 693 operations."""

_NORMAL = 1.959964


@dataclass(frozen=True)
class OraclePlay:
    """The oracle's play of a task, and the task as the shortcuts take it."""

    task: Played
    turns: tuple[OracleTurn, ...]

    @property
    def operations(self) -> int:
        """Operations of the whole play."""
        return sum(turn.operations for turn in self.turns)


@dataclass(frozen=True)
class Success:
    """Mean return on `tasks` tasks, with its 95 % interval; None if no task was scored."""

    mean: float | None
    interval: tuple[float, float]
    tasks: int
    shortcut: str = ""
    """Name of the shortcut that earned it, the best of its kind."""


@dataclass(frozen=True)
class LevelFigures:
    """Figures of one level. Operations, turns and lengths in characters are medians of the oracle's plays.

    `noisy` is the success of the noisy policy by error rate, `shortcuts` that of the best shortcut of each kind,
    `policies` that of others by name.
    """

    level: int
    name: str
    operations: float
    turns: float
    prompt_chars: float
    answer_chars: float
    noisy: dict[float, Success]
    shortcuts: dict[str, Success]
    policies: dict[str, Success] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**asdict(self), "noisy": {str(rate): asdict(n) for rate, n in self.noisy.items()}}


def play_level(env: Env[Any], difficulty: str, seeds: Iterable[int]) -> list[OraclePlay]:
    """Play the tasks of a level as the oracle does."""
    plays = []
    for seed in seeds:
        prompt, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        start = env.snapshot()
        turns = tuple(play_on(env))
        form, right = read_form(turns[-1].action)
        solution = tuple(turn.action for turn in turns)
        task = Played(
            difficulty=difficulty,
            start=start,
            prompt=prompt,
            form=form,
            right=right,
            solution=solution,
        )
        plays.append(OraclePlay(task, turns))
    return plays


def measure_levels(
    env: Env[Any],
    seeds: Sequence[int],
    *,
    shortcuts: bool = True,
    on_level: Callable[[], None] = lambda: None,
) -> list[LevelFigures]:
    """Measure all levels on the tasks of `seeds`; `on_level` is called after the oracle has played one."""
    plays = {}
    for name in env.scale().levels:
        plays[name] = play_level(env, name, seeds)
        on_level()
    rewards = play_shortcuts(env, tasks_of(plays)) if shortcuts else {}
    return [_figures(env, name, some, rewards) for name, some in plays.items()]


def tasks_of(plays: dict[str, list[OraclePlay]]) -> dict[str, list[Played]]:
    """Return the tasks of each level."""
    return {name: [one.task for one in some] for name, some in plays.items()}


def noisy_returns(plays: Iterable[OraclePlay], rate: float) -> list[float]:
    """Return the mean return of the noisy policy on each task."""
    return [noisy_return(play.turns, rate) for play in plays]


def _figures(env: Env[Any], name: str, plays: list[OraclePlay], rewards: Rewards) -> LevelFigures:
    return LevelFigures(
        level=env.level_of(name),
        name=name,
        operations=median(play.operations for play in plays),
        turns=median(len(play.turns) for play in plays),
        prompt_chars=median(len(play.task.prompt) for play in plays),
        answer_chars=median(sum(map(len, play.task.solution)) for play in plays),
        noisy={rate: _noisy(noisy_returns(plays, rate)) for rate in ERROR_RATES},
        shortcuts=_best_of_each_kind(name, rewards),
    )


def _noisy(returns: list[float]) -> Success:
    """The mean over tasks. Each return is exact, so the interval is that of the choice of tasks."""
    mean = fmean(returns)
    half = _NORMAL * stdev(returns) / len(returns) ** 0.5 if len(returns) > 1 else 1.0
    return Success(mean, (max(0.0, mean - half), min(1.0, mean + half)), len(returns))


def _best_of_each_kind(level: str, rewards: Rewards) -> dict[str, Success]:
    means: dict[str, dict[str, float]] = {}
    for shortcut, by_level in rewards.items():
        means.setdefault(kind_of(shortcut), {})[shortcut] = fmean(by_level[level])
    found = {}
    for kind in KINDS:
        if some := means.get(kind):
            # Of equal means that on more tasks: what earned nothing early was tried on few.
            best = max(some, key=lambda name: (some[name], len(rewards[name][level])))
            n = len(rewards[best][level])
            found[kind] = Success(some[best], wilson(some[best] * n, n), n, best)
    return found
