"""Levels: operations rise from level to level, a solver counts them, and whatever is no solver succeeds less."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import ceil, comb, floor
from statistics import fmean, median, variance
from typing import Any

from verigym.envs.check.by_level import ERROR_RATES, noisy_returns, play_level, tasks_of
from verigym.envs.check.cheap_play import Tally
from verigym.envs.check.operations import OracleTurn, count_lines, noisy_return, play
from verigym.envs.check.shortcuts import Rewards, play_shortcuts
from verigym.envs.check.subject import Broken, Subject, bounded

# Neighbouring levels may be the wrong way round by so much, by chance.
_SLACK = 0.02
_MOST_PLAYS = 40
_PLAYS_TO_BE_SURE = 320
"""Plays of a level if those before leave its order to chance: medians of few kinds of questions vary much."""
_TURNS_COUNTED = 12
_TASKS = 24
_ONE_IN = 3
_ERRORS = 4
"""Standard errors by which the noisy policy may do better at a higher level."""
_SURE = 1e-3
"""Probability that chance alone breaks the law of shortcuts."""


def difficulties_are_in_order(subject: Subject) -> dict[str, Any]:
    """Check that operations rise from level to level, and a policy that errs in some fails more often.

    The policy plays as the oracle does and gives up when it errs, so its success depends only on
    the number of operations that have to be right (`Env.work`). Its mean return at three error rates
    must not rise; the median number of operations in a play must rise. If an order is wrong and may be chance, it
    is let pass with fewer than 40 plays of a level, and otherwise decided by more plays.
    """
    env = subject.quick()
    if env.oracle_absent:
        return {}
    seeds = range(max(3, min(_MOST_PLAYS, subject.few(subject.seeds) // 3)))
    plays = {name: [play(env, seed, name) for seed in seeds] for name in env.scale().levels}
    for name, other in itertools.pairwise(plays):
        if _disorder(name, plays[name], other, plays[other]) is None:
            continue
        if _may_be_chance(plays[name], plays[other]):
            if len(seeds) < _MOST_PLAYS:
                continue
            for one in (name, other):
                more = range(len(plays[one]), _PLAYS_TO_BE_SURE)
                plays[one] += [play(env, seed, one) for seed in more]
        if why := _disorder(name, plays[name], other, plays[other]):
            raise Broken(why)
    return {
        "operations": {name: _median(some) for name, some in plays.items()},
        "erring_policy_return": {name: _success(some) for name, some in plays.items()},
    }


def success_falls_with_the_level(subject: Subject) -> dict[str, Any]:
    """Check that neither a policy that errs nor any shortcut does better at a higher level than at a lower one.

    The policy errs in each operation at one of three rates; shortcuts are random play, a search of
    few moves, constants, copies of the prompt and other policies that solve nothing. A difference counts if neither chance explains it nor what
    `Env.chance` declares. Shortcuts are not played if every verdict runs programs. The success by level goes into
    the card.
    """
    env = subject.quick()
    if env.oracle_absent:
        return {}
    seeds = range(max(3, subject.few(_TASKS)))
    plays = {name: play_level(env, name, seeds) for name in env.scale().levels}
    curve: dict[str, Any] = {}
    for rate in ERROR_RATES:
        returns = {name: noisy_returns(some, rate) for name, some in plays.items()}
        _refuse_rise(returns, f"a policy that errs in {rate:g} of all operations")
        curve[f"success_at_{100 * rate:g}_%_errors"] = {
            name: round(fmean(some), 3) for name, some in returns.items()
        }
    if env.costly:
        return curve
    rewards = play_shortcuts(env, tasks_of(plays), one_in=_ONE_IN)
    paid = {name: by for name, by in rewards.items() if any(map(any, by.values()))}
    _refuse_paid_more(paid, list(plays), env.chance)
    return curve | {
        "best_shortcut_return": {
            level: round(max((fmean(by[level]) for by in paid.values()), default=0.0), 3)
            for level in plays
        }
    }


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


def _refuse_rise(returns: dict[str, list[float]], policy: str) -> None:
    for lower, higher in itertools.combinations(returns, 2):
        low, high = returns[lower], returns[higher]
        error = ((variance(low) + variance(high)) / len(low)) ** 0.5
        if fmean(high) > fmean(low) + _ERRORS * error + _SLACK:
            raise Broken(_rise(policy, [lower], low, [higher], high))


def _refuse_paid_more(rewards: Rewards, levels: list[str], chance: float) -> None:
    pairs = [([lower], [higher]) for lower, higher in itertools.combinations(levels, 2)]
    # A slow rise shows in many levels together.
    pairs += [(levels[:cut], levels[cut:]) for cut in range(2, len(levels) - 1)]
    for shortcut, by_level in rewards.items():
        for lower, higher in pairs:
            low, high = ([r for name in some for r in by_level[name]] for some in (lower, higher))
            is_lucky = not Tally(earned=high, chances=[chance] * len(high)).beats_guessing
            if not is_lucky and _by_chance(low, high) < _SURE / len(pairs) / len(rewards):
                raise Broken(_rise(f"the shortcut {shortcut!r}", lower, low, higher, high))


def _rise(
    who: str, lower: list[str], low: list[float], higher: list[str], high: list[float]
) -> str:
    few, many = (
        " to ".join(dict.fromkeys(map(repr, (some[0], some[-1])))) for some in (lower, higher)
    )
    return (
        f"{who} earns {fmean(high):.2f} at {many} and {fmean(low):.2f} at {few}, on average in {len(high)} "
        f"and {len(low)} tasks; let higher levels leave less to it"
    )


def _by_chance(low: Sequence[float], high: Sequence[float]) -> float:
    """Return the probability that of as many successes as both have, so many or more fall to `high` by chance.

    Source: R. A. Fisher's exact test. Returns between 0 and 1 are rounded against a difference.
    """
    won, other = floor(sum(high) + 1e-9), ceil(sum(low) - 1e-9)
    ways = [
        comb(len(high), k) * comb(len(low), won + other - k)
        for k in range(max(0, won + other - len(low)), min(len(high), won + other) + 1)
    ]
    more = sum(ways[won - max(0, won + other - len(low)) :])
    return more / sum(ways)


def _disorder(
    name: str, lower: list[list[OracleTurn]], other: str, higher: list[list[OracleTurn]]
) -> str | None:
    """Return why the level `other` is not harder than the one before it; None if it is."""
    few, many = _median(lower), _median(higher)
    if many <= few:
        return (
            f"{other!r} takes {many:g} operations, {name!r} {few:g}; let the settings grow from level "
            "to level"
        )
    before, after = _success(lower), _success(higher)
    if after > before + _SLACK:
        return f"{other!r} is easier than {name!r}: {after:.2f} against {before:.2f}"
    return None


def _median(plays: list[list[OracleTurn]]) -> float:
    return median(map(_operations, plays))


def _success(plays: list[list[OracleTurn]]) -> float:
    return round(fmean(noisy_return(turns, rate) for turns in plays for rate in ERROR_RATES), 3)


def _may_be_chance(lower: list[list[OracleTurn]], higher: list[list[OracleTurn]]) -> bool:
    """Return True if plays as different as these are no evidence that the higher level is easier: two levels
    alike come out further apart in one of forty cases. Levels whose plays all take the same are no such case."""
    few, many = ([_operations(turns) for turns in some] for some in (lower, higher))
    pairs = [(a, b) for a in few for b in many]
    share = fmean((b > a) + (a == b) / 2 for a, b in pairs)
    n, m = len(few), len(many)
    deviation = ((n + m + 1) / (12 * n * m)) ** 0.5  # of Mann and Whitney's statistic
    return share >= 0.5 - 2 * deviation and sum(a == b for a, b in pairs) < len(pairs) / 2


def _operations(turns: list[OracleTurn]) -> int:
    return sum(turn.operations for turn in turns)
