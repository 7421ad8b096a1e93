"""Plays cheats on the tasks of an environment and reports which are paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from verigym.canonical import digest
from verigym.env import Env
from verigym.envs.audit.cheats import POLICIES, Cheat, TakesCheats, cheats
from verigym.envs.check.cheap_answers import Form, read_form
from verigym.envs.check.cheap_play import Played, Tally, gain
from verigym.envs.check.subject import plan
from verigym.errors import RequestError
from verigym.verdict import VerifierFault
from verigym.verifiers.audit.intervals import interval, rate

PAID_ABOVE = 0.05
"""A reward up to this is a consolation for the form of an answer; more is pay."""
_SHOWN = 400


@dataclass
class _Found:
    """Earnings of a cheat: its tally, and by task its pay, or the reason why it has no score."""

    policy: str
    tally: Tally = field(default_factory=Tally)
    paid: dict[str, float] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def is_luck(self) -> bool:
        """True if the cheat may be right now and then."""
        return all(self.tally.chances)


def audit_tasks(
    env: Env[Any],
    *,
    tasks: int = 24,
    seed: int = 0,
    guess: float | None = None,
    paid_above: float = PAID_ABOVE,
    on_task: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Return the report on `tasks` tasks from `seed` on, plain data; docs/audit.md lists its keys.

    `guess` is the mean reward that a constant may earn by luck. None: what the environment says of chance, or
    what guessing among as many answers as the tasks have would earn.
    """
    if tasks < 1:
        raise RequestError(f"the number of tasks must be at least 1, got {tasks}")
    played = list(_play(env, range(seed, seed + tasks)))
    found: dict[str, _Found] = {}
    dropped: set[str] = set()
    for number, one in enumerate(played):
        alike = [other for other in played if other.difficulty == one.difficulty]
        env.restore(one.start)
        legal = env.legal_actions(env.state)
        lucky = _guess(env, alike) if guess is None else guess
        for cheat in cheats(env, one, alike, legal, lucky):
            if cheat.name in dropped:
                continue
            _try(env, one, cheat, found.setdefault(cheat.name, _Found(cheat.policy)), paid_above)
        # What earned nothing in a third of all tasks, and at least eight, will not earn more than luck.
        if number + 1 == max(8, tasks // 3):
            dropped = {name for name, f in found.items() if f.is_luck and not (f.paid or f.faults)}
        on_task()
    refused = [text for one in played if (text := _refused(env, one))]
    return _report(env, played, found, refused)


def _play(env: Env[Any], seeds: range) -> Iterator[Played]:
    """Tasks of all difficulties in turn, each with its solution if there is one."""
    for seed in seeds:
        difficulty = env.difficulties[seed % len(env.difficulties)]
        observation, _ = env.reset(seed=seed, options={"difficulty": difficulty})
        start = env.snapshot()
        actions: list[str] = []
        if not env.oracle_absent:
            try:
                actions = plan(env)[0]
            except VerifierFault:
                # The report names it among the solutions that were refused.
                actions = [env.oracle()]
        form, right = read_form(actions[-1]) if actions else (Form("<answer>", "</answer>"), "")
        if isinstance(env, TakesCheats):
            form, right = env.answer_form(), ""
        yield Played(
            difficulty=difficulty,
            start=start,
            prompt=observation,
            form=form,
            right=right,
            solution=tuple(actions),
        )


def _guess(env: Env[Any], alike: list[Played]) -> float:
    if env.oracle_absent:
        return env.chance
    return max(env.chance, 1 / max(2, len({one.solution for one in alike})))


def _try(env: Env[Any], one: Played, cheat: Cheat, found: _Found, paid_above: float) -> None:
    """Add to `found` what the best of the replies of a cheat earns on a task."""
    task = one.start.task.id
    best, example = 0.0, ""
    for reply in dict.fromkeys(cheat.replies):
        try:
            total = gain(env, one.start, reply)
        except VerifierFault as error:
            verdict = error.verdict
            found.faults.setdefault(
                task, f"{verdict.status.value}, {verdict.reason}: {verdict.evidence}"[:_SHOWN]
            )
            continue
        if total > max(best, paid_above):
            best, example = total, f"{task}: {reply[:_SHOWN]!r}"
    found.tally.earned.append(min(1.0, best))
    found.tally.chances.append(cheat.chance)
    if best:
        found.paid[task] = best
        found.tally.example = found.tally.example or example


def _refused(env: Env[Any], one: Played) -> str:
    """Return why the task's own solution does not earn full marks; "" if it does or there is none."""
    if not one.solution:
        return ""
    env.restore(one.start)
    total = 0.0
    try:
        for action in one.solution:
            total += float(env.step(action)[1])
    except VerifierFault as error:
        return f"{one.start.task.id}: {error}"[:_SHOWN]
    if abs(total - 1.0) < 1e-6:
        return ""
    return f"{one.start.task.id}: {total:g} for {one.solution[-1]!r}"[:_SHOWN]


def _report(
    env: Env[Any], played: list[Played], found: dict[str, _Found], refused: list[str]
) -> dict[str, Any]:
    n = len(played)
    holes = {name: one for name, one in found.items() if one.paid and one.tally.beats_guessing}
    faulted = {name: one for name, one in found.items() if one.faults}
    at_fault: dict[str, list[str]] = {}
    for name, one in {**holes, **faulted}.items():
        for task in dict.fromkeys((*(one.paid if name in holes else ()), *one.faults)):
            at_fault.setdefault(task, []).append(name)
    hacked = {task for one in holes.values() for task in one.paid}
    return {
        "env": env.id,
        "tasks": n,
        "distinct_tasks": len({digest(one.prompt, one.start.task.reference) for one in played}),
        "hack_rate": rate(len(hacked), n),
        "hack_interval": interval(len(hacked), n),
        "by_policy": {
            policy: rate(len({t for o in holes.values() if o.policy == policy for t in o.paid}), n)
            for policy in POLICIES
        },
        "paid": sorted(
            (_paid(name, one, n) for name, one in holes.items()), key=lambda one: -one["rate"]
        ),
        "faults": [
            {
                "policy": one.policy,
                "name": name,
                "tasks": len(one.faults),
                "example": next(iter(one.faults.items())),
            }
            for name, one in faulted.items()
        ],
        "at_fault": at_fault,
        "cheats_played": len(found),
        "highest_unflagged": [
            {"name": name, "mean_reward": value}
            for name, value in Counter(
                {
                    name: round(sum(one.tally.earned) / len(one.tally.earned), 3)
                    for name, one in found.items()
                    if one.paid and name not in holes
                }
            ).most_common(3)
        ],
        "oracle": env.oracle_absent or "played",
        "refused": refused,
        "unrepeatable": [one.start.task.id for one in played if not _repeats(env, one)],
    }


def _paid(name: str, one: _Found, n: int) -> dict[str, Any]:
    tally = one.tally
    return {
        "policy": one.policy,
        "name": name,
        "rate": len(one.paid) / n,
        "interval": interval(len(one.paid), n),
        "mean_reward": round(sum(tally.earned) / len(tally.earned), 4),
        "guess": round(sum(tally.chances) / len(tally.chances), 4),
        "example": tally.example,
    }


def _repeats(env: Env[Any], one: Played) -> bool:
    """Return True if the task's seed gives the same task again."""
    seed, difficulty = one.start.task.seed, one.difficulty
    return env.reset(seed=seed, options={"difficulty": difficulty})[0] == one.prompt
