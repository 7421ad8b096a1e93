"""Hard families: search and dynamic programming."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.envs.code.family import (
    LISTED,
    Params,
    ProblemFamily,
    letters,
    listed,
    one_of,
    read_listed,
    whole,
    wholes,
)

_MOVES = {
    "rook": [(0, 1), (1, 0), (0, -1), (-1, 0)],
    "king": [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j],
    "knight": [(1, 2), (2, 1), (1, -2), (2, -1), (-1, 2), (-2, 1), (-1, -2), (-2, -1)],
}


class GridWalk(ProblemFamily):
    """Shortest way through a grid, breaking a few walls."""

    name: ClassVar[str] = "grid-walk"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {
            "moves": one_of(rng, tuple(_MOVES)),
            "edge": one_of(rng, ("ends", "wraps")),
            "breaks": whole(rng, 0, 4),
        }

    @override
    def statement(self, p: Params) -> str:
        moves = {
            "rook": "to one of the 4 cells beside it",
            "king": "to one of the 8 cells around it",
            "knight": "as a knight in chess does (two cells along one axis and one along the other)",
        }[str(p["moves"])]
        edge = (
            "The grid wraps around: after the last row comes the first one again, and likewise for columns. "
            if p["edge"] == "wraps"
            else "No move may leave the grid. "
        )
        return (
            "The first line holds h, w, r and c. Then come h lines of w cells each, where . is free and "
            f"# is a wall. You start in the top left cell, which is free, and move {moves}. {edge}On "
            f"the whole way you may enter walls at most {p['breaks']} times. Print the least number of "
            "moves to the cell in row r and column c, both counted from 1, or -1 if it cannot be reached."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        side = min(4 + size // 4, 14)
        h, w = whole(rng, 3, side), whole(rng, 3, side)
        share = 0.25 + 0.1 * int(p["breaks"])
        cells = np.where(rng.random((h, w)) < share, "#", ".")
        cells[0, 0] = "."
        head = f"{h} {w} {whole(rng, 1, h)} {whole(rng, 1, w)}"
        return "\n".join([head, *("".join(row) for row in cells)]) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        """Go on layer by layer through sets of cell and walls entered."""
        head, *grid = stdin.split("\n")[:-1]
        h, w, r, c = map(int, head.split())
        layer = {(0, 0, 0)}
        met = set(layer)
        moves, breaks, wraps = _MOVES[str(p["moves"])], int(p["breaks"]), p["edge"] == "wraps"
        steps = 0
        while layer:
            if any((row, column) == (r - 1, c - 1) for row, column, _ in layer):
                return str(steps)
            following = set()
            for row, column, entered in layer:
                for down, right in moves:
                    y, x = row + down, column + right
                    if wraps:
                        y, x = y % h, x % w
                    if not (0 <= y < h and 0 <= x < w):
                        continue
                    count = entered + (grid[y][x] == "#")
                    if count <= breaks:
                        following.add((y, x, count))
            layer = following - met
            met |= layer
            steps += 1
        return "-1"


class CoinWays(ProblemFamily):
    """Count the ways to pay."""

    name: ClassVar[str] = "coin-ways"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        coins = sorted(
            int(c) for c in rng.choice(np.arange(1, 13), whole(rng, 3, 5), replace=False)
        )
        return {
            "coins": " ".join(map(str, coins)),
            "order": one_of(rng, ("matters", "does not matter")),
            "modulus": (97, 997, 9973, 99991)[whole(rng, 0, 3)],
        }

    @override
    def statement(self, p: Params) -> str:
        order = (
            "two ways that differ in the order of the coins are different"
            if p["order"] == "matters"
            else "the order of the coins does not matter"
        )
        return (
            f"There are coins of {', '.join(str(p['coins']).split())}, as many as you like of each. "
            "The input is one line of amounts, separated by spaces. For each amount, in order, print "
            f"in how many ways coins add up to it exactly, where {order}; print the remainder of that "
            f"number divided by {p['modulus']}. Separate the results by spaces. An amount of 0 has "
            "one way."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return " ".join(map(str, wholes(rng, min(size, 12), 0, 20 + 4 * size))) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        """Compute by recursion on the remaining amount and the coins still allowed."""
        coins = tuple(map(int, str(p["coins"]).split()))
        order_matters = p["order"] == "matters"

        @cache
        def ways(amount: int, allowed: int) -> int:
            if amount == 0:
                return 1
            if order_matters:
                return sum([ways(amount - c, allowed) for c in coins if c <= amount])
            if allowed == 0:
                return 0
            last = coins[allowed - 1]
            more = ways(amount - last, allowed) if last <= amount else 0
            return ways(amount, allowed - 1) + more

        amounts = list(map(int, stdin.split()))
        for amount in range(max(amounts)):  # so that no recursion goes deep
            ways(amount, len(coins))
        return " ".join(str(ways(amount, len(coins)) % int(p["modulus"])) for amount in amounts)


class SpacedChoice(ProblemFamily):
    """Choose numbers that are not too near to each other."""

    name: ClassVar[str] = "spaced-choice"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {"gap": whole(rng, 1, 5), "cost": whole(rng, 0, 8)}

    @override
    def statement(self, p: Params) -> str:
        return (
            f"{LISTED} Choose some of them, or none, so that between any two chosen ones there are "
            f"at least {p['gap']} that are not chosen. Each chosen number earns its value minus {p['cost']}. "
            "Print the largest total that can be earned."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        return listed(wholes(rng, size, -5, 30))

    @override
    def answer(self, p: Params, stdin: str) -> str:
        """Compute from the right the most that the numbers from each place on can earn."""
        numbers, gap = read_listed(stdin), int(p["gap"])
        earns = [0] * (len(numbers) + gap + 1)
        for place in reversed(range(len(numbers))):
            taken = numbers[place] - int(p["cost"]) + earns[place + gap + 1]
            earns[place] = max(taken, earns[place + 1])
        return str(earns[0])


class StackMachine(ProblemFamily):
    """Run a small stack machine."""

    name: ClassVar[str] = "stack-machine"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {
            "m": whole(rng, 5, 99),
            "sub": one_of(rng, ("below minus top", "top minus below")),
        }

    @override
    def statement(self, p: Params) -> str:
        return (
            "The first line holds n, and each of the next n lines holds one command of a stack machine "
            "whose stack is empty at first. push X puts X on top; pop removes the top number; dup puts "
            "a copy of the top number on top; swap exchanges the top two numbers; add, mul and sub "
            "remove the top two numbers and put back their sum, their product, or the difference "
            f"{p['sub']}. Every number is reduced modulo {p['m']}, so that it is from 0 to "
            f"{int(p['m']) - 1}. Print the stack at the end from bottom to top, separated by spaces, or "
            "the word empty if nothing is left. If a command finds too few numbers on the stack, stop "
            "there and print only the word error and the number of that command, counted from 1."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        commands, height = [], 0
        for _ in range(size + 2):
            if height < 2 or rng.random() < 0.4:
                word = "push" if height == 0 or rng.random() < 0.8 else "dup"
            else:
                word = one_of(rng, ("add", "mul", "sub", "sub", "swap", "pop"))
            if rng.random() < 0.1 / size:
                word = "add"
            commands.append(f"push {whole(rng, 0, 120)}" if word == "push" else word)
            height += {"push": 1, "dup": 1, "swap": 0}.get(word, -1)
        return "\n".join([str(len(commands)), *commands]) + "\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        m, sign = int(p["m"]), 1 if p["sub"] == "below minus top" else -1
        stack: list[int] = []
        for number, command in enumerate(stdin.split("\n")[1:-1], 1):
            word, _, argument = command.partition(" ")
            if word == "push":
                stack.append(int(argument) % m)
                continue
            if len(stack) < (1 if word in ("dup", "pop") else 2):
                return f"error {number}"
            top = stack.pop()
            if word == "dup":
                stack += [top, top]
            elif word == "swap":
                stack.insert(len(stack) - 1, top)
            elif word == "add":
                stack[-1] = (stack[-1] + top) % m
            elif word == "mul":
                stack[-1] = stack[-1] * top % m
            elif word == "sub":
                stack[-1] = sign * (stack[-1] - top) % m
        return " ".join(map(str, stack)) or "empty"


class EditCost(ProblemFamily):
    """Turn one word into another at least cost."""

    name: ClassVar[str] = "edit-cost"

    @override
    def draw(self, rng: np.random.Generator) -> Params:
        return {
            "insert": whole(rng, 1, 6),
            "delete": whole(rng, 1, 6),
            "change": whole(rng, 1, 9),
        }

    @override
    def statement(self, p: Params) -> str:
        return (
            "The input is two lines with a word of lower-case letters on each. Inserting a letter costs "
            f"{p['insert']}, deleting one costs {p['delete']}, and changing one into another costs "
            f"{p['change']}. Print the least total cost of turning the first word into the second."
        )

    @override
    def write(self, rng: np.random.Generator, p: Params, size: int) -> str:
        long = min(size + 2, 40)
        one, two = (letters(rng, whole(rng, 1, long), "abcd") for _ in range(2))
        return f"{one}\n{two}\n"

    @override
    def answer(self, p: Params, stdin: str) -> str:
        """Compute by recursion on the ends of both words."""
        one, two = stdin.split()
        insert, delete, change = (int(p[name]) for name in ("insert", "delete", "change"))

        @cache
        def cost(i: int, j: int) -> int:
            if i == len(one):
                return (len(two) - j) * insert
            if j == len(two):
                return (len(one) - i) * delete
            if one[i] == two[j]:
                return cost(i + 1, j + 1)
            return min(
                cost(i + 1, j) + delete,
                cost(i, j + 1) + insert,
                cost(i + 1, j + 1) + change,
            )

        return str(cost(0, 0))


FAMILIES: tuple[ProblemFamily, ...] = (
    GridWalk(),
    CoinWays(),
    SpacedChoice(),
    StackMachine(),
    EditCost(),
)
