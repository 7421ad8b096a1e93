"""Play cheap answers on tasks of an environment, and count what they earn.

The law `cheap_answers_earn_no_more_than_guessing` and the audit of tasks (`verigym.envs.audit`) share this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from verigym.env import Env, Snapshot
from verigym.envs.check.cheap_answers import (
    Form,
    constants,
    echoes,
    given_wrong,
    inputs_of_constants,
    is_program,
    numbers,
    read_form,
    restatements,
    words,
)
from verigym.envs.check.subject import plan, rungs

_SURE = 1e-3
"""The chance that guessing earns as much or more, below which an answer earns more than guessing."""
_PLACES = 4
_FEW = 2
_REPEATS = 60


@dataclass(frozen=True, kw_only=True)
class Played:
    """A task, what it wants, and how it can be started again."""

    difficulty: str
    start: Snapshot[Any]
    prompt: str
    form: Form
    right: str
    """The answer in the last action of its solution; empty if there is no solver."""
    solution: tuple[str, ...]


@dataclass
class Tally:
    """Rewards of one cheap answer, by task; `chances` are those of a guess."""

    earned: list[float] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)
    example: str = ""

    @property
    def beats_guessing(self) -> bool:
        count = len(self.earned)
        return _tail(count, math.ceil(sum(self.earned) - 1e-9), sum(self.chances) / count) < _SURE


def play(env: Env[Any], seeds: range) -> Iterator[Played]:
    """Yield tasks of the levels that the laws play in turn, each solved once."""
    levels = rungs(env)
    for seed in seeds:
        difficulty = levels[seed % len(levels)]
        observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        start = env.snapshot()
        actions = [] if env.oracle_absent else plan(env)[0]
        form, right = read_form(actions[-1]) if actions else (Form("<answer>", "</answer>"), "")
        yield Played(
            difficulty=difficulty,
            start=start,
            prompt=observation,
            form=form,
            right=right,
            solution=tuple(actions),
        )


def cheap_replies(
    one: Played, alike: list[Played], chance: float, guess: float
) -> Iterator[tuple[str, list[str], float]]:
    """Return the names of cheap answers, replies of which the best counts, and what a guess earns."""
    same, program = squeezed(one.right), is_program(one.form, one.right)
    restated = {"": given_wrong(one.prompt)} if program else restatements(one.prompt)
    ways = {f"restating{how}": spans for how, spans in restated.items()}
    ways["echoing"] = echoes(one.prompt)[: _FEW if program else None]
    for name, spans in ways.items():
        common = [span for span in spans if all(span in other.prompt for other in alike)]
        # A value that also stands in the question stays right: it is picked, not restated.
        other = [span for span in spans if span not in common and squeezed(span) != same]
        if other:
            every = [one.form.replies(span)[: 1 if program else None] for span in other]
            yield name, [reply for replies in every for reply in replies], chance
        for span in common:
            yield f"what every prompt says, {span[:40]!r},", one.form.replies(span), guess
    for name, replies in constants(one.form, one.right):
        yield name, replies, guess
    for name, reply in inputs_of_constants(one.form, one.right, one.prompt).items():
        yield name, [reply], chance
    for kind, find in (("number", numbers), ("quoted word", words)):
        picked = [] if program else find(one.prompt)
        for place in (*range(_PLACES), -1):
            if -len(picked) <= place < len(picked):
                where = "last" if place < 0 else f"{place + 1}."
                pick = max(guess, 1 / len(picked))
                yield f"the {where} {kind} of the prompt", one.form.replies(picked[place]), pick
    others = [other for other in alike if other is not one and other.solution]
    if others:
        following = next((o for o in others if o.start.task.seed > one.start.task.seed), others[0])
        yield "the end of another task's solution", [following.solution[-1]], guess


def gain(env: Env[Any], start: Snapshot[Any], action: str) -> float:
    """Repeat an action until something was judged, or it changes nothing any more; return the reward."""
    env.restore(start)
    total, key = 0.0, env.state_key()
    for _ in range(_REPEATS):
        _, reward, terminated, truncated, info = env.step(action)
        total += reward
        if terminated or truncated or info["verdict"] is not None or info["state_key"] == key:
            break
        key = info["state_key"]
    return total


def _tail(count: int, least: int, chance: float) -> float:
    """The probability of at least `least` successes in `count` draws."""
    return sum(
        math.comb(count, k) * chance**k * (1 - chance) ** (count - k)
        for k in range(least, count + 1)
    )


def squeezed(text: str) -> str:
    return "".join(text.split()).casefold()
