"""State keys: history-free and complete. Small instances are enumerated."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import replace
from typing import Any

from verigym.canonical import digest
from verigym.env import Env, Snapshot
from verigym.envs.check.subject import JUNK, Broken, Subject, plan, rungs, strangers, wander
from verigym.errors import RequestError

_STATES = 250
_ACTIONS = 12
_WALKS = 3
_PLAYED_TWICE = 2
"""Number of random plays in which each action is tried twice."""


def equal_keys_have_equal_futures(subject: Subject) -> dict[str, Any]:
    """Check that states with one key, reached by different paths, look and continue the same.

    The search is breadth first from the start of small tasks and of a large one: each state's view, legal actions,
    and the result of each action (view, reward, end, next key). By induction, equal keys then
    agree for ever, and two states that differ in anything visible never share a key.
    """
    env = subject.quick(max_turns=10_000)
    met = joined = 0
    lowest, highest = rungs(env)[0], rungs(env)[-1]
    for seed, difficulty in enumerate((lowest, lowest, highest)):
        env.reset(seed=seed, options={"difficulty": difficulty})
        states, again = _enumerate(env)
        met += states
        joined += again
    env.reset(seed=5)
    key = env.state_key()
    env.reset(seed=6)
    if env.task.content != _content(subject, 5) and env.state_key() == key:
        raise Broken("the keys of two tasks are equal; the key must cover what differs")
    return {"states_enumerated": met, "met_by_two_paths": joined}


def keys_have_no_history(subject: Subject) -> None:
    """Check that a key never stands for two futures, ignores the turn, and counts nothing past.

    Play includes junk, and actions that are right in other tasks. The same state at a later turn
    must give the same key. So must the states before and after junk, and after an action once and
    twice, if they look the same and continue to look and earn the same: in the oracle's play, to
    full marks, and in random play.
    """
    env = subject.quick(max_turns=10_000)
    for difficulty in (rungs(env)[0], rungs(env)[-1]):
        _keep_no_history(env, difficulty)


def _keep_no_history(env: Env[Any], difficulty: str) -> None:
    rng = random.Random(5)
    pool = [*JUNK, *strangers(env, difficulty, 4)]
    env.reset(seed=5, options={"difficulty": difficulty})
    start = env.snapshot()
    futures: dict[str, Any] = {}
    for walk in range(6):
        env.restore(start)
        for action, _ in wander(env, rng, 15, pool):
            here = env.snapshot()
            if here.done:
                break
            key, future = env.state_key(), _future(env, here)
            if futures.setdefault(key, future) != future:
                raise Broken(f"{env.task.id}: one key, two futures: {_difference(env, here)}")
            env.restore(replace(here, turn=here.turn + 1))
            if env.state_key() != key:
                raise Broken(
                    f"{env.task.id}: the key changes with the turn where nothing else does, "
                    f"{_difference(env, here)}; key(state) may look at state alone"
                )
            env.restore(here)
            if walk < _PLAYED_TWICE:
                _twice(env, action, pool)
                env.restore(here)
    # On the way to full marks too, where a game can be lost.
    for way in range(2):
        env.restore(start)
        for _ in range(way if not env.oracle_absent else 0):
            env.step(env.oracle())
        for _ in range(2):
            if not env.snapshot().done:
                _twice(env, "no such action", pool)


def _twice(env: Env[Any], action: str, pool: list[str]) -> None:
    """Play `action`, which must leave the key as it is if it leaves all else as it is."""
    here, key = env.snapshot(), env.state_key()
    if any(env.step(action)[2:4]) or env.state_key() == key:
        return
    again = env.snapshot()
    if _shown(_future(env, again)) == _shown(_future(env, here)):
        on = _goes_on(env, here, pool)
        if on is not None and on == _goes_on(env, again, pool):
            raise Broken(
                f"{env.task.id}: two keys, one future: {action[:60]!r} changes the key and nothing "
                f"else, {_difference(env, here)}; leave what is past, such as a count of moves, "
                "out of key(state)"
            )
    env.restore(again)


def _shown(future: list[Any]) -> str:
    """Digest the visible part of `future`: everything but the keys."""
    view, legal, *steps = future
    return digest(view, legal, [step for step, _ in steps])


def _goes_on(env: Env[Any], here: Snapshot[Any], pool: list[str]) -> list[Any] | None:
    """Return everything seen and earned from `here`, by the oracle and by random play; None
    without full marks.

    If the oracle cannot reach full marks, two worlds may well differ in something that no play
    reveals.
    """
    env.restore(here)
    try:
        actions, total = ([], 0.0) if env.oracle_absent else plan(env)
    except RequestError:  # a dead end
        return None
    if total < 1.0:
        return None
    seen: list[Any] = [actions]
    for seed in range(_WALKS):
        env.restore(here)
        seen += [(action, step[:4]) for action, step in wander(env, random.Random(seed), 12, pool)]
    return seen


def _content(subject: Subject, seed: int) -> str:
    return subject.remembering().sample_task(seed).content


def _enumerate(env: Env[Any]) -> tuple[int, int]:
    """Return the number of states reached from here, and how many of them by more than one path."""
    queue = deque([env.snapshot()])
    futures: dict[str, Any] = {}
    joined = set()
    while queue and len(futures) < _STATES:
        here = queue.popleft()
        env.restore(here)
        key = env.state_key()
        future = _future(env, here)
        if key in futures:
            joined.add(key)
            if futures[key] != future:
                raise Broken(f"{env.task.id}: one key, two futures: {_difference(env, here)}")
            continue
        futures[key] = future
        for action in (env.legal_actions(here.state) or JUNK)[:_ACTIONS]:
            env.restore(here)
            if not any(env.step(action)[2:4]):
                queue.append(env.snapshot())
    return len(futures), len(joined)


def _future(env: Env[Any], here: Snapshot[Any]) -> list[Any]:
    """Return everything that can be seen in state `here`, and after each of its actions."""
    env.restore(here)
    legal = env.legal_actions(here.state)
    future: list[Any] = [env.view(), legal]
    for action in (legal or list(JUNK))[:_ACTIONS]:
        step = env.step(action)
        future.append((step[:4], step[4]["state_key"]))
        env.restore(here)
    return future


def _difference(env: Env[Any], here: Snapshot[Any]) -> str:
    return f"after {here.turn} turns, where it shows {env.observe(here.state)[:120]!r}"
