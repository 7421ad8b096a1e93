"""Levels: operations rise from level to level, and a solver counts them."""

from __future__ import annotations

import itertools
from statistics import fmean, median
from typing import Any

from verigym.envs.check.operations import OracleTurn, count_lines, noisy_return, play
from verigym.envs.check.subject import Broken, Subject, bounded

_ERROR_RATES = (0.001, 0.01, 0.1)
# Neighbouring levels may be the wrong way round by so much, by chance.
_SLACK = 0.02
_MOST_PLAYS = 40
_TURNS_COUNTED = 12


def difficulties_are_in_order(subject: Subject) -> dict[str, Any]:
    """Check that operations rise from level to level, and a policy that errs in some fails more often.

    The policy plays as the oracle does and gives up when it errs, so its success depends only on
    the number of operations that have to be right (`Env.work`). Its mean return at three error rates
    must not rise; the median number of operations in a play must rise. With fewer than 40 plays of a level, an
    order that may be chance is let pass.
    """
    env = subject.quick()
    if env.oracle_absent:
        return {}
    seeds = range(max(3, min(_MOST_PLAYS, subject.few(subject.seeds) // 3)))
    plays = {name: [play(env, seed, name) for seed in seeds] for name in env.scale().levels}
    operations = {name: median(map(_operations, some)) for name, some in plays.items()}
    rates = {name: _success(some, _ERROR_RATES) for name, some in plays.items()}
    for name, other in itertools.pairwise(operations):
        if len(seeds) < _MOST_PLAYS and _may_be_chance(*(plays[one] for one in (name, other))):
            continue
        if operations[other] <= operations[name]:
            raise Broken(
                f"{other!r} takes {operations[other]:g} operations, {name!r} {operations[name]:g}; let "
                "the settings grow from level to level"
            )
        if rates[other] > rates[name] + _SLACK:
            raise Broken(
                f"{other!r} is easier than {name!r}: {rates[other]:.2f} against {rates[name]:.2f}"
            )
    return {"operations": operations, "erring_policy_return": rates}


def operations_are_counted(subject: Subject) -> None:
    """Check that `work` executes at least as many lines as it counts operations.

    A number that is declared or calculated by a formula takes a few lines, whatever it is. A loop that
    does nothing but count is not found; nor are operations that a solver does and leaves out.
    """
    env = subject.quick()
    if env.oracle_absent:
        return
    for name in env.scale().levels:
        env.reset(seed=0, options={"difficulty": name})
        for turn in range(_TURNS_COUNTED):
            bounded(env, turn)
            operations, lines = count_lines(env)
            if type(operations) is not int or operations < 1:
                raise Broken(
                    f"{env.task.id}: work is {operations!r}, must be a whole number above 0"
                )
            if operations > lines:
                raise Broken(
                    f"{env.task.id}: work claims {operations} operations, and executes {lines} lines; "
                    "count each operation where a solver performs it, and keep no result"
                )
            _, _, terminated, truncated, _ = env.step(env.oracle())
            if terminated or truncated:
                break


def _success(plays: list[list[OracleTurn]], rates: tuple[float, ...]) -> float:
    return round(fmean(noisy_return(turns, rate) for turns in plays for rate in rates), 3)


def _may_be_chance(lower: list[list[OracleTurn]], higher: list[list[OracleTurn]]) -> bool:
    """Return True if plays as different as these are no evidence that the higher level is easier: two levels
    alike come out further apart in one of forty cases. Levels whose plays all take the same are no such case."""
    few, many = ([_operations(turns) for turns in some] for some in (lower, higher))
    pairs = [(a, b) for a in few for b in many]
    share = fmean((b > a) + (a == b) / 2 for a, b in pairs)
    deviation = (
        (2 * len(few) + 1) / (12 * len(few) ** 2)
    ) ** 0.5  # of Mann and Whitney's statistic
    return share >= 0.5 - 2 * deviation and sum(a == b for a, b in pairs) < len(pairs) / 2


def _operations(turns: list[OracleTurn]) -> int:
    return sum(turn.operations for turn in turns)
