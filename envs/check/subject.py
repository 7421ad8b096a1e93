"""`Subject`: an environment under check, and the ways to play it that the laws share."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import verigym
from verigym.canonical import JSON, digest
from verigym.env import Env
from verigym.judge import Judge
from verigym.task import Task
from verigym.verdict import Verdict, scored

JUNK = ("", "help", "up", "down", "print(1)", "<answer>1</answer>", "\U0001f600 ×", "{}", "0")

MOST_TURNS = 10_000
"""The longest episode that a law plays to its end."""

_UNNAMED = (7, 10)

Step = tuple[str, float, bool, bool, dict[str, Any]]


class Broken(Exception):
    """A law does not hold; the text says where, and what to do."""


@dataclass(frozen=True)
class Subject:
    """The environment `id`, to be played on `seeds` seeds."""

    id: str
    seeds: int = 200

    def make(self, **kwargs: Any) -> Env[Any]:
        """Return a new instance."""
        return verigym.make(self.id, **kwargs)

    def remembering(self, **kwargs: Any) -> Env[Any]:
        """Return a new instance that draws no task again that one of these has drawn."""
        env = self.make(**kwargs)
        _remember(env)
        return env

    def quick(self, *, redraw: bool = False, **kwargs: Any) -> Env[Any]:
        """Return a new instance whose verdicts cost nothing, for laws that are not about the verifier. It
        remembers the tasks that were drawn, unless `redraw`."""
        env = self.make(**kwargs) if redraw else self.remembering(**kwargs)
        if env.costly:
            env.verifier = _Instant(env)
        return env

    @property
    def known(self) -> str:
        """Id under which Gymnasium knows it; differs from the given name only for an environment
        in a file."""
        return self.make().id

    @property
    def costly(self) -> bool:
        """True if each verdict runs programs."""
        return self.make().costly

    @property
    def waived(self) -> Mapping[str, str]:
        """The laws that it does not claim to keep, with the reason why."""
        return self.make().waived

    def few(self, most: int) -> int:
        """Return the number of seeds for a law, at most `most`: a fraction of `seeds`, smaller if
        the environment is costly."""
        many = max(2, min(most, self.seeds))
        return max(1, many // 12) if self.costly else many


_drawn: dict[tuple[int, str, str], Task] = {}
"""Tasks of the environment that was checked last, by seed, difficulty and split: most laws play the same ones, and to
draw one can take seconds."""
_drawn_by: list[tuple[type[Env[Any]], str]] = []


def _remember(env: Env[Any]) -> None:
    """Let `env` take tasks that were drawn before, by it or another instance of its class."""
    if _drawn_by != [(type(env), env.id)]:
        _drawn.clear()
        _drawn_by[:] = [(type(env), env.id)]
    draw = env._draw

    def drawn(rng: np.random.Generator, seed: int, difficulty: str, split: str) -> Task:
        key = seed, difficulty, split
        if key not in _drawn:
            _drawn[key] = draw(rng, seed, difficulty, split)
        return _drawn[key]

    env._draw = drawn  # type: ignore[method-assign]


class _Instant(Judge):
    """Stands in for a verifier that runs programs: right is what the oracle submits."""

    id = "check/instant"
    version = 1

    params: ClassVar[dict[str, JSON]] = {}

    def __init__(self, env: Env[Any]) -> None:
        self._env = env

    def verify_batch(self, items: Iterable[tuple[Task, JSON]]) -> list[Verdict]:
        env = self._env
        right = env.transition(env.state, env.oracle()).submission
        return [
            scored(float(submission == right), "instant", evidence=digest(submission)[:8]).stamped(
                self.name, self.digest(task, submission)
            )
            for task, submission in items
        ]


def rungs(env: Env[Any]) -> tuple[str, ...]:
    """Return the levels that the laws play: those that have a name, and 7 and 10 where there are such."""
    return tuple(
        form
        for form, level in env.scale().levels.items()
        if form in env.difficulties or level in _UNNAMED
    )


def plan(env: Env[Any]) -> tuple[list[str], float]:
    """Return the oracle's actions from here to the end, and the return."""
    actions: list[str] = []
    total, over = 0.0, False
    while not over:
        bounded(env, len(actions))
        actions.append(env.oracle())
        _, reward, terminated, truncated, _ = env.step(actions[-1])
        total += reward
        over = terminated or truncated
    return actions, total


def bounded(env: Env[Any], turns: int) -> None:
    """Raise Broken if an episode has gone on for `MOST_TURNS`: no law plays longer ones."""
    if turns >= MOST_TURNS:
        raise Broken(
            f"{env.task.id} has not ended after {turns} turns, of {env.turns_allowed(env.task)} allowed; "
            f"let turns_allowed give at most {MOST_TURNS}"
        )


def strangers(env: Env[Any], difficulty: str, most: int) -> list[str]:
    """Return the oracle's first actions in other tasks: such as are understood here, and seldom right."""
    actions = []
    if not env.oracle_absent:
        for seed in range(1000, 1000 + most):
            env.reset(seed=seed, options={"difficulty": difficulty})
            actions.append(env.oracle())
    return list(dict.fromkeys(actions))


def wander(
    env: Env[Any], rng: random.Random, steps: int, pool: Sequence[str] = JUNK
) -> Iterator[tuple[str, Step]]:
    """Play random actions, legal ones if they can be listed, else from `pool`; return the result
    of each step."""
    for _ in range(steps):
        action = random_action(env, rng, pool)
        step = env.step(action)
        yield action, step
        if step[2] or step[3]:
            return


def random_action(env: Env[Any], rng: random.Random, pool: Sequence[str] = JUNK) -> str:
    """Return one of the legal actions; now and then, or if they cannot be listed, one of `pool`."""
    legal = env.legal_actions(env.state)
    return rng.choice(legal) if legal and rng.random() < 0.9 else rng.choice(pool)


def earned(env: Env[Any], action: str) -> float:
    """Return the return of playing one action until the episode ends."""
    total, turns, over = 0.0, 0, False
    while not over:
        bounded(env, turns)
        _, reward, terminated, truncated, _ = env.step(action)
        total += reward
        turns += 1
        over = terminated or truncated
    return total


def transcript(subject: Subject, seeds: int) -> str:
    """Return a digest of tasks, observations, rewards, verdicts and state keys of some plays."""
    record: list[Any] = []
    env = subject.make()
    for seed in range(seeds):
        for difficulty in rungs(env)[: 1 if env.costly else None]:
            record.append(env.reset(seed=seed, options={"difficulty": difficulty}))
            record.append(env.task)
            record.extend(wander(env, random.Random(seed), 30))
            env.reset(seed=seed)
            if not env.oracle_absent:
                record.append(plan(env))
    return digest(record)
