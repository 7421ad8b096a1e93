"""Shortcuts: policies that read little and solve nothing, and what they earn at each level.

`verigym levels` shows them, and the law `success_falls_with_the_level` compares levels by them. All are
those of `cheap_play.py`, and four that play: random legal moves, one move repeated, a candidate drawn at random,
and a search that tries legal moves in the environment itself until it has tried `NODES`.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

from verigym.env import Env
from verigym.envs.check.cheap_play import Played, cheap_replies, gain
from verigym.envs.check.subject import bounded, earned

RANDOM, REPEATED, SEARCHED = "random play", "repeated move", "bounded search"
COPIED, CONSTANT = "prompt copy", "constant"
OTHER, GUESSED = "other answer", "guess"
KINDS = (RANDOM, REPEATED, SEARCHED, COPIED, CONSTANT, OTHER, GUESSED)

NODES = 200
"""Moves that the bounded search tries in a task."""

Rewards = dict[str, dict[str, list[float]]]
"""Return of each shortcut by level, a number for each task that it was tried on."""


def kind_of(shortcut: str) -> str:
    """Return the kind of a shortcut, one of `KINDS`."""
    if shortcut in KINDS:
        return shortcut
    if shortcut == "the end of another task's solution":
        return OTHER
    constant = ("the constant ", "the query ", "the program ", "the module ", "a query ")
    return CONSTANT if shortcut.startswith(constant) else COPIED


def play_shortcuts(
    env: Env[Any], levels: Mapping[str, Sequence[Played]], *, one_in: int = 1
) -> Rewards:
    """Play all shortcuts on the tasks of each level; one that cannot be played on a task earns 0 there.

    With `one_in`, they are tried on one task in so many, and only those that earned something on the others.
    """
    first = {name: tasks[: ceil(len(tasks) / one_in)] for name, tasks in levels.items()}
    found: Rewards = {}
    for name, tasks in first.items():
        for number, one in enumerate(tasks):
            for shortcut, play in _shortcuts(env, one, levels[name]):
                if shortcut not in found:
                    found[shortcut] = {level: [0.0] * len(some) for level, some in first.items()}
                found[shortcut][name][number] = play()
    paid = {name: by_level for name, by_level in found.items() if any(map(any, by_level.values()))}
    for name, tasks in levels.items():
        for one in tasks[len(first[name]) :] if paid else ():
            plays = dict(_shortcuts(env, one, tasks))
            for shortcut, by_level in paid.items():
                by_level[name].append(plays[shortcut]() if shortcut in plays else 0.0)
    return found


def _shortcuts(
    env: Env[Any], one: Played, alike: Sequence[Played]
) -> Iterator[tuple[str, Callable[[], float]]]:
    """Yield the shortcuts that can be played on a task, each with a function that plays it."""
    rng = random.Random(one.start.task.seed)
    env.restore(one.start)
    if legal := env.legal_actions(env.state):
        yield RANDOM, partial(_wander, env, one, rng)
        yield REPEATED, partial(_repeat, env, one, rng.choice(legal))
        yield SEARCHED, partial(_search, env, one)
    if len(known := env.candidates(one.start.task)) > 1:
        yield GUESSED, partial(_best, env, one, [one.form.fill(rng.choice(known))])
    for name, replies, _ in cheap_replies(one, list(alike), env.chance, env.chance):
        yield name, partial(_best, env, one, replies)


def _best(env: Env[Any], one: Played, replies: Sequence[str]) -> float:
    return _share(max(gain(env, one.start, reply) for reply in dict.fromkeys(replies)))


def _repeat(env: Env[Any], one: Played, action: str) -> float:
    env.restore(one.start)
    return _share(earned(env, action))


def _search(env: Env[Any], one: Played) -> float:
    """Return the highest return that a breadth-first search finds among the first `NODES` moves.

    It tries moves on copies of the environment, hidden things included, and visits no state twice.
    """
    env.restore(one.start)
    seen = {env.state_key()}
    queue = deque([(one.start, 0.0)])
    best, tried = 0.0, 0
    while queue and best < 1.0:
        here, total = queue.popleft()
        for action in env.legal_actions(here.state) or ():
            if tried == NODES:
                return _share(best)
            env.restore(here)
            _, reward, terminated, truncated, info = env.step(action)
            tried += 1
            best = max(best, total + reward)
            if not (terminated or truncated or info["state_key"] in seen):
                seen.add(info["state_key"])
                queue.append((env.snapshot(), total + reward))
    return _share(best)


def _wander(env: Env[Any], one: Played, rng: random.Random) -> float:
    env.restore(one.start)
    total, over = 0.0, False
    while not over:
        bounded(env, env.snapshot().turn)
        legal = env.legal_actions(env.state)
        _, reward, terminated, truncated, _ = env.step(rng.choice(legal) if legal else "")
        total += reward
        over = terminated or truncated
    return _share(total)


def _share(total: float) -> float:
    return min(1.0, max(0.0, total))
