"""Moves of several environments judged together: propose all, ask each judge once, commit all.

Vector environments and the episode loop share this rule. Exempt are environments that `can_propose`
refuses, which are stepped instead: `RemoteEnv`, which a service plays, and classes with a `step` of their
own, such as adapters to libraries whose environments cannot say what an action would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from verigym.env import Env, Move
from verigym.judge import Judge
from verigym.verdict import Verdict

Of = TypeVar("Of")


def can_propose(env: object) -> bool:
    """Return True if `propose` and `commit` are the whole of the environment's `step`."""
    return isinstance(env, Env) and type(env).step is Env.step


def by_judge(moves: Iterable[tuple[Judge, Of]]) -> list[tuple[Judge, list[Of]]]:
    """Group moves, or what goes with them, by judge; both in the order of their first appearance."""
    found: dict[int, tuple[Judge, list[Of]]] = {}
    for judge, move in moves:
        found.setdefault(id(judge), (judge, []))[1].append(move)
    return list(found.values())


def ask(judge: Judge, moves: Sequence[Move[Any]]) -> Iterator[tuple[int, Verdict | Exception]]:
    """Yield each move's place with its verdict, or the judge's error about it, as soon as it is known.

    If the judge refuses all of them at once, as a service does if they are too much for one request, it is
    asked about each half, so that no submission affects the verdict on another.
    """
    if len(moves) == 1:
        try:
            yield 0, judge.verify(moves[0].task, moves[0].submission)
        except Exception as error:  # noqa: BLE001 - the caller's to raise, for this move alone
            yield 0, error
        return
    left = set(range(len(moves)))
    try:
        for place, verdict in judge.verify_each([(move.task, move.submission) for move in moves]):
            left.discard(place)
            yield place, verdict
    except Exception:  # noqa: BLE001 - raised again, alone, by the move that it is about
        pass
    rest = sorted(left)
    for part in (rest[: len(rest) // 2], rest[len(rest) // 2 :]):
        if part:
            for place, found in ask(judge, [moves[at] for at in part]):
                yield part[place], found
