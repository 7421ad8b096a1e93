"""Restating, echoing, constants and wrong answers in a wrapping earn no more than guessing."""

from __future__ import annotations

from collections import Counter
from typing import Any

from verigym.env import Env
from verigym.envs.check.cheap_answers import (
    given_wrong,
    inputs_of_constants,
    is_program,
    read_form,
    wrappings,
)
from verigym.envs.check.cheap_play import Played, Tally, cheap_replies, gain, play, squeezed
from verigym.envs.check.mending import learn_changes, mend_by_table
from verigym.envs.check.subject import Broken, Subject, rungs

_TASKS = 48
_COSTLY_EACH = 16
"""One seed in this many is tried if every verdict runs programs."""
_PROGRAMS = 36
"""Tasks that show a program, on which its numbers are tried; they earn too little to show in fewer."""
_LEARNED = 240
_FIRST_LEARNED = 10_000
"""Tasks from which changes are learned that mend programs, and the seed of the first of them."""


def cheap_answers_earn_no_more_than_guessing(subject: Subject) -> dict[str, Any]:
    """Check that restatements, constants and wrapped wrong answers earn no more than a guess.

    A guess is right in one of as many tasks as there are different solutions, or different numbers
    or words to pick from in the prompt, and at least in a share `chance`. Restating and echoing
    pick nothing: their bound is `chance` alone. An answer that earns nothing must also earn
    nothing in a wrapping that means the same.
    """
    env = subject.remembering()
    count = max(2, subject.seeds // _COSTLY_EACH) if subject.costly else subject.few(_TASKS)
    played = list(play(env, range(max(count, len(rungs(env))))))
    tallies: dict[tuple[str, str], Tally] = {}
    dropped: set[str] = set()
    for number, one in enumerate(played):
        alike = [other for other in played if other.difficulty == one.difficulty]
        _refuse_wrapped(env, one, alike)
        guess = max(env.chance, 1 / max(2, len({other.solution for other in alike})))
        if env.oracle_absent:
            guess = env.chance
        for name, replies, chance in cheap_replies(one, alike, env.chance, guess):
            if name in dropped:
                continue
            _try(env, one, tallies, name, replies, chance)
        # What earned nothing in a third of all tasks will not earn more than a guess in all of them.
        if number == len(played) // 3:
            dropped = {
                name for (name, where), t in tallies.items() if not where and not any(t.earned)
            }
    if any(inputs_of_constants(one.form, one.right, one.prompt) for one in played):
        for one in play(env, range(len(played), min(_PROGRAMS, subject.seeds // 4))):
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
    played: list[Played],
    tallies: dict[tuple[str, str], Tally],
) -> None:
    """Try the changes that repair other tasks, if the tasks show programs or queries to repair."""
    if not any(_to_mend(one) for one in played):
        return
    pairs: dict[str, list[tuple[str, str]]] = {name: [] for name in rungs(env)}
    for seed in range(_FIRST_LEARNED, _FIRST_LEARNED + min(_LEARNED, 2 * subject.seeds)):
        difficulty = rungs(env)[seed % len(rungs(env))]
        prompt, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        _, right = read_form(env.oracle())
        pairs[difficulty] += [(shown, right) for shown in given_wrong(prompt)]
    changes = {name: learn_changes(some) for name, some in pairs.items()}
    if 2 * sum(map(Counter.total, changes.values())) < sum(map(len, pairs.values())):
        return
    for one in [*played, *play(env, range(len(played), min(_PROGRAMS, subject.seeds // 4)))]:
        for shown in _to_mend(one):
            mended = mend_by_table(shown, changes[one.difficulty]) or shown
            reply = one.form.fill(mended)
            _try(env, one, tallies, "the change that mends most other tasks", [reply], env.chance)


def _to_mend(one: Played) -> list[str]:
    """The program or query that a task of one reply shows."""
    is_one = len(one.solution) == 1 and is_program(one.form, one.right)
    return given_wrong(one.prompt)[:1] if is_one else []


def _try(
    env: Env[Any],
    one: Played,
    tallies: dict[tuple[str, str], Tally],
    name: str,
    replies: list[str],
    chance: float,
) -> None:
    """Add what the best of some replies earns to the tallies of a cheap answer."""
    gains = {reply: gain(env, one.start, reply) for reply in replies}
    best = max(gains, key=lambda reply: gains[reply])
    for key in ((name, ""), (name, one.difficulty)):
        tally = tallies.setdefault(key, Tally())
        tally.earned.append(gains[best])
        tally.chances.append(chance)
        if gains[best]:
            tally.example = f"{one.start.task.id}: {best[:200]!r}"


def _refuse_wrapped(env: Env[Any], one: Played, alike: list[Played]) -> None:
    """Check that wrong answers stay wrong in a wrapping. Raises Broken."""
    different = [other.right for other in alike if squeezed(other.right) != squeezed(one.right)]
    for wrong in (*given_wrong(one.prompt), *different[:1]):
        wrapped = wrappings(one.form, wrong, one.prompt) if one.right else {}
        if not wrapped or gain(env, one.start, one.form.fill(wrong)):
            continue
        for name, answer in wrapped.items():
            if total := gain(env, one.start, one.form.fill(answer)):
                raise Broken(
                    f"{one.start.task.id}: a wrong answer earns nothing, but {total:g} with {name}: {answer[:300]!r}"
                )
