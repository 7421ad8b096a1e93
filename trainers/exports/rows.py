"""Tasks as plain rows for the data sets of other libraries, and the judging of one reply to each.

A row names its task and never holds the reference: a trainer that logs or publishes its data set leaks no answer
(law 4), and the task is made again from its seed (law 2).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from verigym.canonical import to_json
from verigym.choosing import choose_envs
from verigym.env import Env, Move
from verigym.errors import RequestError
from verigym.levels import Difficulty
from verigym.making import make
from verigym.moves import ask, by_judge, can_propose
from verigym.verdict import Verdict


class TaskRow(TypedDict):
    """Name of a task. `options` are arguments of the environment as JSON text, so that rows of different
    environments have equal columns."""

    env: str
    seed: int
    split: str
    difficulty: str
    options: str


COLUMNS = ("env", "seed", "split", "difficulty", "options")
"""Columns of a `TaskRow`."""


def task_rows(
    *envs: str,
    n: int,
    split: str = "train",
    difficulty: Difficulty | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
) -> list[TaskRow]:
    """Return the rows of `n` tasks, the environments in turn, seeds from `seed` on.

    `envs` are ids or patterns such as `math/*`. Raises RequestError if one matches nothing or lacks the difficulty.
    """
    if n < 1:
        raise RequestError(f"n must be at least 1, got {n}")
    given = to_json(options or {}).decode()
    levels = {}
    for env_id in choose_envs(envs):
        with make(env_id, **(options or {})) as env:
            levels[env.id] = env.difficulty if difficulty is None else env.written(difficulty)
    if not levels:
        raise RequestError("name at least one environment, such as 'math/*'")
    names = list(levels)
    return [
        TaskRow(
            env=names[i % len(names)],
            seed=seed + i // len(names),
            split=split,
            difficulty=levels[names[i % len(names)]],
            options=given,
        )
        for i in range(n)
    ]


def row_of(columns: Mapping[str, Any]) -> TaskRow:
    """Return the task of a data set's row, whatever other columns it has.

    Raises RequestError if a column of `COLUMNS` is missing.
    """
    if missing := [name for name in COLUMNS if name not in columns]:
        raise RequestError(
            f"the row lacks the columns {', '.join(missing)}; make rows with task_rows()"
        )
    return TaskRow(
        env=str(columns["env"]),
        seed=int(columns["seed"]),
        split=str(columns["split"]),
        difficulty=str(columns["difficulty"]),
        options=str(columns["options"]),
    )


def open_env(row: TaskRow) -> Env[Any]:
    """Return the environment of a row; `start` begins its task."""
    return make(row["env"], **json.loads(row["options"]))


def start(env: Env[Any], row: TaskRow) -> tuple[str, dict[str, Any]]:
    """Reset an environment to the task of a row."""
    return env.reset(
        seed=row["seed"], options={"split": row["split"], "difficulty": row["difficulty"]}
    )


def first_prompt(row: TaskRow) -> list[dict[str, str]]:
    """Return the chat that opens the task of a row: one user message with the first observation."""
    with open_env(row) as env:
        observation, _ = start(env, row)
    return [{"role": "user", "content": observation}]


def grade(rows: Sequence[TaskRow], replies: Iterable[str], retries: int = 2) -> list[Verdict]:
    """Return the verdict on one reply to each task, in order; a verdict without a score is a fault.

    For tasks of one turn: raises RequestError if a reply does not end its task. Each judge is asked once about all
    of its moves, and up to `retries` times more about those that faulted.
    """
    envs: dict[tuple[str, str], Env[Any]] = {}
    moves: list[tuple[Env[Any], Move[Any]]] = []
    try:
        for row, reply in zip(rows, replies, strict=True):
            place = (row["env"], row["options"])
            env = envs.get(place) or envs.setdefault(place, open_env(row))
            start(env, row)
            moves.append((env, _only_move(env, reply)))
        verdicts: dict[int, Verdict] = {}
        left = list(range(len(moves)))
        for _ in range(1 + retries):
            verdicts.update(_judge({index: moves[index] for index in left}))
            left = [index for index in left if verdicts[index].fault]
            if not left:
                break
        return [verdicts[index] for index in range(len(moves))]
    finally:
        for env in envs.values():
            env.close()


def _only_move(env: Env[Any], reply: str) -> Move[Any]:
    if not can_propose(env):
        raise RequestError(f"{env.id} cannot be judged by one reply; play it turn by turn")
    move = env.propose(reply)
    if move.submission is None or not (move.transition.terminated or move.truncated):
        raise RequestError(f"{env.id} has several turns; play it turn by turn (docs/exports.md)")
    return move


def _judge(moves: Mapping[int, tuple[Env[Any], Move[Any]]]) -> dict[int, Verdict]:
    found: dict[int, Verdict] = {}
    asked = ((env.verifier, (index, move)) for index, (env, move) in moves.items())
    for judge, batch in by_judge(asked):
        for place, verdict in ask(judge, [move for _, move in batch]):
            if isinstance(verdict, Exception):
                raise verdict
            found[batch[place][0]] = verdict
    return found
