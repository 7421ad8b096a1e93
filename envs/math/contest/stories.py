"""Word problems in which later questions need the answers to earlier ones, and stories told from their end."""

from __future__ import annotations

import re

import numpy as np

from verigym.canonical import JSON
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.contest.stages import STAGES, NumberStory
from verigym.envs.math.paper import Paper

_LETTERS = "KLMNPQRSTUVWXYZ"
_NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eva", "Finn")


def chained_questions(rng: np.random.Generator, level: int) -> Problem:
    """A chain of stories; each takes the answer to the one before."""
    return _story(rng, {7: 4, 8: 7, 9: 10, 10: 14}[level], False)


def joined_questions(rng: np.random.Generator, level: int) -> Problem:
    """Stories that take the sum or the difference of two earlier answers."""
    return _story(rng, {7: 4, 8: 7, 9: 10, 10: 14}[level], True)


def _story(rng: np.random.Generator, count: int, is_joined: bool) -> Problem:
    values: list[int] = [among(rng, 200, 999)]
    lines, operands = [], list[JSON]([*values, is_joined])
    for place in range(count):
        x, name = values[-1], str(values[0]) if not place else _LETTERS[place - 1]
        if is_joined and place > 1:
            other = among(rng, 1, place - 1)
            if values[other] < 10**7:
                x, name = x + values[other], f"{name} + {_LETTERS[other - 1]}"
        some = _stages_for(x)
        while True:
            stage = some[int(rng.integers(len(some)))]
            drawn = stage.draw(rng)
            value = stage.value(x, *drawn)
            if place == count - 1 or _stages_for(value):
                break
        values.append(value)
        text = stage.text.replace("{x}", "{{x}}").format(*drawn).replace("{x}", name)
        lines.append(f"Part {place + 1}: {text} Let {_LETTERS[place]} be the answer.")
        operands += [STAGES.index(stage), *drawn, name]
    text = "The parts of this story build on each other.\n" + "\n".join(lines)
    return Problem(f"{text}\nWhat is {_LETTERS[count - 1]}?", operands, values[-1])


def _stages_for(x: int) -> list[NumberStory]:
    """Return the stories that take `x`; none takes a handful of melons that are left over."""
    return [stage for stage in STAGES if stage.low <= x <= stage.high]


def _solve_story(paper: Paper, numbers: list[int], text: str) -> int:
    known: dict[str, int] = {}
    value = 0
    for line, letter in re.findall(r"Part \d+: (.*) Let (\w) be the answer\.", text):
        paper.look()
        for stage in STAGES:
            if (found := stage.read(line)) is not None:
                name, drawn = found
                first, *more = (
                    known[part] if part in known else int(part) for part in name.split(" + ")
                )
                for other in more:
                    first = paper.add(first, other)
                value = known[letter] = stage.work(paper, first, *drawn)
                break
    return value


def told_backwards(rng: np.random.Generator, level: int) -> Problem:
    """People who give each other marbles, told with the marbles that they have at the end."""
    people, rounds = {7: (3, 15), 8: (4, 28), 9: (5, 50), 10: (6, 95)}[level]
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


KINDS = (
    Kind(chained_questions, _solve_story),
    Kind(joined_questions, _solve_story),
    Kind(told_backwards, _solve_told_backwards),
)
