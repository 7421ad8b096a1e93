"""Contest word problems: stories told from their end, and the stories of `stages.py`, linked."""

from __future__ import annotations

import re

import numpy as np

from verigym.envs.math.contest import simulations, stages
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.paper import Paper

_NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eva", "Finn")


def told_backwards(rng: np.random.Generator, level: int) -> Problem:
    """People who give each other marbles, told with the marbles that they have at the end."""
    people, rounds = {7: (3, 15), 8: (5, 24)}[level]
    names = _NAMES[:people]
    start = [among(rng, 100 * level, 400 * level) for _ in names]
    have, lines, moves = list(start), [], list[list[int]]()
    for _ in range(rounds):
        giver = int(
            np.argmax(np.array(have, dtype=object) + rng.integers(0, max(2, min(have)), people))
        )
        taker = (giver + among(rng, 1, people - 1)) % people
        if have[giver] > have[taker] and rng.integers(2):
            have[giver], have[taker] = have[giver] - have[taker], 2 * have[taker]
            lines.append(
                f"{names[giver]} gives {names[taker]} as many marbles as {names[taker]} has."
            )
            moves.append([giver, taker, 0])
        else:
            count = among(rng, 2, max(2, have[giver] // 3))
            third = (have[giver] - count) // 2
            given = have[giver] - third
            count = have[giver] - 2 * third
            have[giver], have[taker] = third, have[taker] + given
            lines.append(
                f"{names[giver]} gives {names[taker]} {count} marbles, and then half of those that are left."
            )
            moves.append([giver, taker, count])
    ends = listed([f"{name} has {n}" for name, n in zip(names, have, strict=True)])
    weights = [among(rng, 2, 99) for _ in names]
    asked = " + ".join(f"{w} * {name}" for w, name in zip(weights, names, strict=True))
    text = (
        f"{listed(list(names))} have marbles.\n"
        + "\n".join(lines)
        + f"\nAt the end, {ends}. Write each name for the number of "
        f"marbles that this person had at the start. What is {asked}?"
    )
    value = sum(w * n for w, n in zip(weights, start, strict=True))
    return Problem(text, [[*start], [[*move] for move in moves], [*weights]], value)


def _solve_told_backwards(paper: Paper, numbers: list[int], text: str) -> int:
    have = {
        name: int(n) for name, n in re.findall(r"(\w+) has (\d+)", text.rpartition("At the end")[2])
    }
    for line in reversed(text.splitlines()[1:-1]):
        paper.look()
        giver, taker = re.findall(r"^(\w+) gives (\w+)", line)[0]
        if "as many" in line:
            half = paper.divide_exactly(have[taker], 2)
            have[giver], have[taker] = paper.add(have[giver], half), half
        else:
            count = int(re.findall(r"\d+", line)[0])
            given = paper.add(have[giver], count)
            have[taker] = paper.subtract(have[taker], given)
            have[giver] = paper.add(have[giver], given)
    total = 0
    for weight, name in re.findall(r"(\d+) \* (\w+)", text.rpartition("What is")[2]):
        total = paper.add(total, paper.multiply(int(weight), have[name]))
    return total


PARTS = {7: 4, 8: 4, 9: 5, 10: 6}
"""Number of parts of a question, by level."""
KINDS = (
    Kind(told_backwards, _solve_told_backwards, last=8),
    *stages.KINDS,
    *simulations.KINDS,
)
