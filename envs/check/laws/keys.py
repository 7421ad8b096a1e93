"""State keys: history-free and complete. Small instances are enumerated."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from verigym.env import Env, Snapshot
from verigym.envs.check.subject import JUNK, Broken, Subject, wander

_STATES = 250
_ACTIONS = 12


def equal_keys_have_equal_futures(subject: Subject) -> dict[str, Any]:
    """States reached by different paths under one key show the same and go the same ways.

    Breadth first from the start of small tasks: each state's view, legal actions, and what each
    action leads to (view, reward, end, next key). By induction equal keys then agree for ever, and two
    states that differ in anything to be seen never share a key.
    """
    env = subject.quick(max_turns=10_000)
    met = joined = 0
    for seed in range(2):
        env.reset(seed=seed, options={"difficulty": env.difficulties[0]})
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
    """In play with junk in it, a key never stands for two futures, and junk leaves it as it is."""
    env = subject.quick(max_turns=10_000)
    rng = random.Random(5)
    env.reset(seed=5)
    start = env.snapshot()
    futures: dict[str, Any] = {}
    for _ in range(6):
        env.restore(start)
        for _ in wander(env, rng, 15):
            here = env.snapshot()
            if here.done:
                break
            future = _future(env, here)
            if futures.setdefault(env.state_key(), future) != future:
                raise Broken(f"{env.task.id}: one key, two futures: {_difference(env, here)}")


def _content(subject: Subject, seed: int) -> str:
    return subject.make().sample_task(seed).content


def _enumerate(env: Env[Any]) -> tuple[int, int]:
    """How many states were met from here, and how many of them by more than one path."""
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
    """What can be seen in state `here`, and after each of its actions."""
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
