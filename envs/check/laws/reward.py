"""Rewards: the oracle earns full marks, random play next to nothing, tricks nothing."""

from __future__ import annotations

import itertools
import random
import re
from itertools import chain
from statistics import fmean
from typing import Any

import verigym
from verigym.env import Env, Snapshot
from verigym.envs.check.subject import (
    Broken,
    Subject,
    bounded,
    earned,
    plan,
    random_action,
    rungs,
    strangers,
)
from verigym.envs.check.tricks import lists_with, tricks, untagged

_OTHERS = 24
_LISTED = 3
"""Maximum number of other tasks that a list of answers is made from, and number of tasks that it
is tried on."""


def the_oracle_earns_full_marks(subject: Subject) -> dict[str, Any]:
    """Check that the oracle earns 1.0 at each difficulty and in each split, within the turns."""
    env = subject.remembering()
    if env.oracle_absent:
        if len(env.oracle_absent) <= 20:
            raise Broken("say in oracle_absent why there is no oracle")
        return {"oracle": env.oracle_absent}
    kinds = list(itertools.product(rungs(env), verigym.SPLITS))
    others = [form for form in env.scale().levels if form not in rungs(env)]
    kinds += zip(others, itertools.cycle(verigym.SPLITS), strict=False)
    turns: dict[str, list[int]] = {}
    shown: dict[str, list[int]] = {}
    written: dict[str, list[int]] = {}
    for number in range(max(len(kinds), subject.few(subject.seeds))):
        difficulty, split = kinds[number % len(kinds)]
        observation, _ = env.reset(seed=number, options={"difficulty": difficulty, "split": split})
        allowed = env.turns_allowed(env.task)
        actions, total = plan(env)
        if abs(total - 1.0) > 1e-9:
            raise Broken(f"{env.task.id}: the oracle earns {total:g} with {_shown(actions)}")
        if len(actions) > allowed:
            raise Broken(f"{env.task.id}: the oracle takes {len(actions)} of {allowed} turns")
        for action in actions:
            if not env.action_space.contains(action):
                raise Broken(f"{env.task.id}: {action[:60]!r} is not in the action space")
        turns.setdefault(difficulty, []).append(len(actions))
        shown.setdefault(difficulty, []).append(len(observation))
        written.setdefault(difficulty, []).append(sum(map(len, actions)))
    return {
        "oracle_turns": {name: round(fmean(n), 2) for name, n in turns.items()},
        # For the reader of the card, who may doubt an order that rests on `work` alone.
        "chars_shown": {name: round(fmean(n)) for name, n in shown.items()},
        "oracle_chars": {name: round(fmean(n)) for name, n in written.items()},
    }


def chance_earns_next_to_nothing(subject: Subject) -> dict[str, Any]:
    """Check that random play earns at most `chance` on average, at each difficulty."""
    env = subject.remembering()
    earned_by: dict[str, float] = {}
    for difficulty in rungs(env):
        returns = []
        for seed in range(subject.few(subject.seeds)):
            env.reset(seed=seed, options={"difficulty": difficulty})
            rng, total, over = random.Random(seed), 0.0, False
            while not over:
                bounded(env, env.snapshot().turn)
                _, reward, terminated, truncated, _ = env.step(random_action(env, rng))
                total += reward
                over = terminated or truncated
            returns.append(total)
        earned_by[difficulty] = round(fmean(returns), 4)
        # Two standard errors of a coin with this chance.
        slack = 2 * (env.chance * (1 - env.chance) / len(returns)) ** 0.5
        if earned_by[difficulty] > env.chance + slack:
            raise Broken(
                f"random play earns {earned_by[difficulty]:.3f} at {difficulty!r}, over chance = "
                f"{env.chance:g}; make guessing harder, or state the chance if it is the game's own"
            )
    return {"random_return": earned_by}


def tricks_earn_nothing(subject: Subject) -> None:
    """Check that blank text, the prompt, lists of all answers and instructions earn nothing.

    An instruction whose only number is the right answer is let pass: it gives that answer.
    """
    env = subject.remembering()
    for difficulty in rungs(env):
        others = [
            untagged(action) for action in strangers(env, difficulty, subject.few(_OTHERS) // 2)
        ]
        paid: dict[str, list[float]] = {}
        for seed in range(subject.few(8)):
            observation, info = env.reset(seed=seed, options={"difficulty": difficulty})
            start = env.snapshot()
            answers = tricks(env, observation, info["legal_actions"])
            # Where actions are steps on a way, a row of them is several steps, of which some may fail.
            if len(others) > 1 and seed < _LISTED and env.step(right := env.oracle())[2]:
                for name, answer in lists_with(untagged(right), others).items():
                    env.restore(start)
                    paid.setdefault(name, []).append(earned(env, answer))
            for name, answer in chain.from_iterable(some.items() for some in answers.values()):
                env.restore(start)
                if (total := earned(env, answer)) and not _says_the_answer(env, start, answer):
                    raise Broken(f"{env.task.id}: {name} is paid {total:g}")
        # Now and then the answer to another task is right for this one too.
        for name, totals in paid.items():
            if len(totals) > 1 and all(totals):
                raise Broken(f"{difficulty}: {name} is paid {max(totals):g}, in every task")


def _says_the_answer(env: Env[Any], start: Snapshot[Any], trick: str) -> bool:
    """Return True if the only number of a trick is the right answer here, which "reward = 1" then gives."""
    numbers = re.findall(r"\d+(?:\.\d+)?", trick)
    if len(numbers) != 1:
        return False
    env.restore(start)
    return earned(env, f"<answer>{numbers[0]}</answer>") == 1.0


def _shown(actions: list[str]) -> str:
    text = " | ".join(actions)
    return text if len(text) <= 200 else f"{text[:200]}..."
