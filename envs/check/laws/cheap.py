"""Restating, echoing, constants and wrong answers in a wrapping earn no more than guessing."""

from __future__ import annotations

import math
from collections import Counter
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
    wrappings,
)
from verigym.envs.check.mending import learn_changes, mend_by_table
from verigym.envs.check.subject import Broken, Subject, plan

_TASKS = 48
_COSTLY_EACH = 16
"""One seed in this many is tried if every verdict runs programs."""
_PROGRAMS = 36
"""Tasks that show a program, on which its numbers are tried; they earn too little to show in fewer."""
_LEARNED = 240
_FIRST_LEARNED = 10_000
"""Tasks from which changes are learned that mend programs, and the seed of the first of them."""
_SURE = 1e-3
"""The chance that guessing earns as much or more, below which an answer earns more than guessing."""
_PLACES = 4
_FEW = 2
_REPEATS = 60


@dataclass(frozen=True, kw_only=True)
class _Played:
    """A task, what it wants, and how it can be started again."""

    difficulty: str
    start: Snapshot[Any]
    prompt: str
    form: Form
    right: str
    """The answer in the last action of its solution; empty if there is no solver."""
    solution: tuple[str, ...]


@dataclass
class _Tally:
    """Rewards of one cheap answer, by task; `chances` are those of a guess."""

    earned: list[float] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)
    example: str = ""

    @property
    def beats_guessing(self) -> bool:
        count = len(self.earned)
        return _tail(count, math.ceil(sum(self.earned) - 1e-9), sum(self.chances) / count) < _SURE


def cheap_answers_earn_no_more_than_guessing(subject: Subject) -> dict[str, Any]:
    """Check that restatements, constants and wrapped wrong answers earn no more than a guess.

    A guess is right in one of as many tasks as there are different solutions, or different numbers
    or words to pick from in the prompt, and at least in a share `chance`. Restating and echoing
    pick nothing: their bound is `chance` alone. An answer that earns nothing must also earn
    nothing in a wrapping that means the same.
    """
    env = subject.make()
    count = max(2, subject.seeds // _COSTLY_EACH) if subject.costly else subject.few(_TASKS)
    played = list(_play(env, range(max(count, len(env.difficulties)))))
    tallies: dict[tuple[str, str], _Tally] = {}
    dropped: set[str] = set()
    for number, one in enumerate(played):
        alike = [other for other in played if other.difficulty == one.difficulty]
        _refuse_wrapped(env, one, alike)
        guess = max(env.chance, 1 / max(2, len({other.solution for other in alike})))
        if env.oracle_absent:
            guess = env.chance
        for name, replies, chance in _cheap(one, alike, env.chance, guess):
            if name in dropped:
                continue
            _try(env, one, tallies, name, replies, chance)
        # What earned nothing in a third of all tasks will not earn more than a guess in all of them.
        if number == len(played) // 3:
            dropped = {
                name for (name, where), t in tallies.items() if not where and not any(t.earned)
            }
    if any(inputs_of_constants(one.form, one.right, one.prompt) for one in played):
        for one in _play(env, range(len(played), min(_PROGRAMS, subject.seeds // 4))):
            for name, reply in inputs_of_constants(one.form, one.right, one.prompt).items():
                if name not in dropped:
                    _try(env, one, tallies, name, [reply], env.chance)
    _try_mending(env, subject, played, tallies)
    most: dict[str, float] = {}
    for (name, where), tally in tallies.items():
        share = sum(tally.earned) / len(tally.earned)
        most[name] = max(most.get(name, 0.0), share if not where else 0.0)
        if tally.beats_guessing:
            raise Broken(
                f"{where or 'all difficulties'}: {name} earns {share:.2f} on average in {len(tally.earned)} "
                f"tasks, a guess {sum(tally.chances) / len(tally.chances):.2f}; such as {tally.example}"
            )
    return {
        "cheap_answers_earn": {
            name: round(share, 3) for name, share in Counter(most).most_common(3) if share
        }
    }


def _try_mending(
    env: Env[Any],
    subject: Subject,
    played: list[_Played],
    tallies: dict[tuple[str, str], _Tally],
) -> None:
    """Try the changes that repair other tasks, if the tasks show programs or queries to repair."""
    if not any(_to_mend(one) for one in played):
        return
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in env.difficulties}
    for seed in range(_FIRST_LEARNED, _FIRST_LEARNED + min(_LEARNED, 2 * subject.seeds)):
        difficulty = env.difficulties[seed % len(env.difficulties)]
        prompt, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        _, right = read_form(env.oracle())
        pairs[difficulty] += [(shown, right) for shown in given_wrong(prompt)]
    changes = {name: learn_changes(some) for name, some in pairs.items()}
    if 2 * sum(map(Counter.total, changes.values())) < sum(map(len, pairs.values())):
        return
    for one in [*played, *_play(env, range(len(played), min(_PROGRAMS, subject.seeds // 4)))]:
        for shown in _to_mend(one):
            mended = mend_by_table(shown, changes[one.difficulty]) or shown
            reply = one.form.fill(mended)
            _try(env, one, tallies, "the change that mends most other tasks", [reply], env.chance)


def _to_mend(one: _Played) -> list[str]:
    """The program or query that a task of one reply shows."""
    is_one = len(one.solution) == 1 and is_program(one.form, one.right)
    return given_wrong(one.prompt)[:1] if is_one else []


def _try(
    env: Env[Any],
    one: _Played,
    tallies: dict[tuple[str, str], _Tally],
    name: str,
    replies: list[str],
    chance: float,
) -> None:
    """Add what the best of some replies earns to the tallies of a cheap answer."""
    gains = {reply: _gain(env, one.start, reply) for reply in replies}
    best = max(gains, key=lambda reply: gains[reply])
    for key in ((name, ""), (name, one.difficulty)):
        tally = tallies.setdefault(key, _Tally())
        tally.earned.append(gains[best])
        tally.chances.append(chance)
        if gains[best]:
            tally.example = f"{one.start.task.id}: {best[:200]!r}"


def _play(env: Env[Any], seeds: range) -> Iterator[_Played]:
    """Tasks of all difficulties in turn, each solved once."""
    for seed in seeds:
        difficulty = env.difficulties[seed % len(env.difficulties)]
        observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        start = env.snapshot()
        actions = [] if env.oracle_absent else plan(env)[0]
        form, right = read_form(actions[-1]) if actions else (Form("<answer>", "</answer>"), "")
        yield _Played(
            difficulty=difficulty,
            start=start,
            prompt=observation,
            form=form,
            right=right,
            solution=tuple(actions),
        )


def _cheap(
    one: _Played, alike: list[_Played], chance: float, guess: float
) -> Iterator[tuple[str, list[str], float]]:
    """Names of cheap answers, replies of which the best counts, and what a guess earns."""
    same, program = _squeezed(one.right), is_program(one.form, one.right)
    restated = {"": given_wrong(one.prompt)} if program else restatements(one.prompt)
    ways = {f"restating{how}": spans for how, spans in restated.items()}
    ways["echoing"] = echoes(one.prompt)[: _FEW if program else None]
    for name, spans in ways.items():
        common = [span for span in spans if all(span in other.prompt for other in alike)]
        # A value that also stands in the question stays right: it is picked, not restated.
        other = [span for span in spans if span not in common and _squeezed(span) != same]
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


def _refuse_wrapped(env: Env[Any], one: _Played, alike: list[_Played]) -> None:
    """Check that wrong answers stay wrong in a wrapping. Raises Broken."""
    different = [other.right for other in alike if _squeezed(other.right) != _squeezed(one.right)]
    for wrong in (*given_wrong(one.prompt), *different[:1]):
        wrapped = wrappings(one.form, wrong, one.prompt) if one.right else {}
        if not wrapped or _gain(env, one.start, one.form.fill(wrong)):
            continue
        for name, answer in wrapped.items():
            if total := _gain(env, one.start, one.form.fill(answer)):
                raise Broken(
                    f"{one.start.task.id}: a wrong answer earns nothing, but {total:g} with {name}: {answer[:300]!r}"
                )


def _gain(env: Env[Any], start: Snapshot[Any], action: str) -> float:
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


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()
