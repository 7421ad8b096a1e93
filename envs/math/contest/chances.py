"""Random processes that stop: expected times, visits, and chances of an end."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from fractions import Fraction

import numpy as np

from verigym.envs.math.contest.exact import solve
from verigym.envs.math.contest.kind import Kind, Problem, among, listed
from verigym.envs.math.elimination import eliminate, solve_fractions
from verigym.envs.math.paper import Paper

_LETTERS = "ABCDEFGH"


def race_of_words(rng: np.random.Generator, level: int) -> Problem:
    """Throws until one of some words appears: the expected number, or the chance of the first word."""
    count, longest, letters = {7: (1, 6, 2), 8: (3, 5, 3), 9: (3, 6, 3), 10: (4, 6, 4)}[level]
    weights = [among(rng, 1, level - 3) for _ in range(letters)]
    weights[0] = 1 if math.gcd(*weights) > 1 else weights[0]
    alphabet = _LETTERS[:letters]
    while True:
        words = [
            "".join(rng.choice(list(alphabet), longest - among(rng, 0, 1))) for _ in range(count)
        ]
        if not any(a in b for a, b in itertools.permutations(words, 2)):
            break
    chance = {c: Fraction(w, sum(weights)) for c, w in zip(alphabet, weights, strict=True)}
    asks_time = count == 1 or bool(rng.integers(2))
    ends = sorted({word[:k] for word in words for k in range(len(word))})
    rows, side = [], []
    for end in ends:
        row = [Fraction(int(end == other)) for other in ends]
        now = Fraction(int(asks_time))
        for letter in alphabet:
            longer = end + letter
            if longer.endswith(tuple(words)):
                now += 0 if asks_time else chance[letter] * longer.endswith(words[0])
            else:
                row[ends.index(next(t for k in range(9) if (t := longer[k:]) in ends))] -= chance[
                    letter
                ]
        rows.append(row)
        side.append(now)
    value = solve(rows, side)[ends.index("")]
    parts = [f"{c} with probability {p}" for c, p in chance.items()]
    shown = listed([repr(word) for word in words], "or")
    goal = "What is the expected number of letters printed?"
    if not asks_time:
        goal = f"What is the probability that the word that appeared is {words[0]!r}?"
    stop = "the word" if count == 1 else "one of the words"
    text = (
        f"A machine prints letters one after the other, independently: {listed(parts)}. It stops as soon as "
        f"{stop} {shown} has appeared in consecutive places. {goal}"
    )
    return Problem(text, [weights, words, asks_time], value)


def _solve_race(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Pay gamblers who bet on each word its fair price (Li 1980): each team gets the expected time on average."""
    chance = {c: Fraction(p) for c, p in re.findall(r"(\w) with probability (\d+/\d+)", text)}
    words = re.findall(r"'(\w+)'", text.partition(" has appeared")[0])
    n = len(words)
    prices: dict[str, Fraction] = {"": Fraction(1)}
    for word in words:
        for k in range(1, len(word) + 1):
            if word[:k] not in prices:
                prices[word[:k]] = paper.divide_fractions(
                    prices[word[: k - 1]], chance[word[k - 1]]
                )
    # Unknowns are the chances of the words, with the expected time last.
    rows = [[Fraction(1)] * n + [Fraction(0), Fraction(1)]]
    for word in words:
        row = []
        for last in words:
            total = Fraction(0)
            for k in range(1, min(len(word), len(last)) + 1):
                paper.look()
                if last.endswith(word[:k]):
                    total = paper.add_fractions(total, prices[word[:k]])
            row.append(total)
        rows.append([*row, Fraction(-1), Fraction(0)])
    solved = solve_fractions(paper, rows)
    return solved[-1] if "expected" in text else solved[0]


def markov_chain(rng: np.random.Generator, level: int) -> Problem:
    """A token that moves at random until it leaves: expected moves, expected visits, chance of an exit."""
    n = {7: 3, 8: 6}[level]
    below = among(rng, 6, 12)
    places, exits = _LETTERS[:n], ("North", "South")
    rows = []
    for i in range(n):
        row = rng.multinomial(below, np.full(n + 2, 1 / (n + 2))).tolist()
        if not sum(row[:i] + row[i + 1 :]):
            row = [1] * (n + 2)
            row[i] += below - n - 2
        rows.append(row)
    rows[-1][n:] = [rows[-1][n] + 1, rows[-1][n + 1] + 1]
    sums = [sum(row) for row in rows]
    what = among(rng, 0, 2)
    grid = [[sums[i] * (i == j) - rows[i][j] for j in range(n)] for i in range(n)]
    side = [(sums[i], sums[i] * (i == n - 1), rows[i][n])[what] for i in range(n)]
    try:
        value = solve(grid, side)[0]
    except StopIteration:  # some places lead nowhere
        return markov_chain(rng, level)
    names = [*(f"to {c}" for c in places), *(f"to the {name} exit" for name in exits)]
    lines = []
    for i, row in enumerate(rows):
        parts = [
            f"{name} with probability {w}/{sums[i]}"
            for name, w in zip(names, row, strict=True)
            if w
        ]
        lines.append(f"From {places[i]}: {listed(parts)}.")
    goal = (
        "What is the expected number of turns that it takes to leave, counting the last one?",
        f"What is the expected number of turns that begin at {places[-1]}?",
        "What is the probability that it leaves by the North exit?",
    )[what]
    text = (
        f"A token starts at {places[0]}. In each turn it moves as follows, independently of the turns before, until "
        "it leaves by an exit.\n" + "\n".join(lines) + f"\n{goal}"
    )
    return Problem(text, [rows, what], value)


def _solve_markov_chain(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Clear the denominators, and eliminate all unknowns but that of A."""
    lines = re.findall(r"From (\w): (.*)\.", text)
    names = [name for name, _ in lines][::-1]
    rows = []
    for name, line in reversed(lines):
        row, north, below = dict.fromkeys(names, 0), 0, 0
        for goal, weight, total in re.findall(
            r"(to \w|North|South)(?: exit)? with probability (\d+)/(\d+)", line
        ):
            paper.look()
            below = int(total)
            if goal == "North":
                north = int(weight)
            elif goal != "South":
                row[goal[-1]] -= int(weight)
        row[name] = paper.add(row[name], below)
        side = below if "to leave, counting" in text else north
        if "that begin at" in text:
            side = below if name == names[0] else 0
        rows.append([*row.values(), side])
    eliminate(paper, rows, len(rows))
    return paper.reduce(rows[-1][-1], rows[-1][-2])


def collector(rng: np.random.Generator, level: int) -> Problem:
    """Expected draws until all kinds of cards, of unequal chances, have been seen."""
    n = {7: 3, 8: 5, 9: 6}[level]
    weights = sorted(among(rng, 1, 10) for _ in range(n))
    whole = sum(weights)
    value = Fraction(0)
    for size in range(1, n + 1):
        for some in itertools.combinations(weights, size):
            value -= (-1) ** size * Fraction(whole, sum(some))
    parts = [f"{w} of kind {c}" for w, c in zip(weights, _LETTERS, strict=False)]
    text = (
        f"A bag holds {whole} cards: {listed(parts)}. A card is drawn at random, looked at and put back, again and "
        "again. What is the expected number of draws until each kind has been drawn at least once?"
    )
    return Problem(text, [*weights], value)


def _solve_collector(paper: Paper, numbers: list[int], text: str) -> Fraction:
    """Add and subtract the waiting times for any card of some kinds."""
    whole, *weights = numbers
    signs = Counter({0: -1})
    for weight in weights:
        for taken, sign in list(signs.items()):
            paper.look()
            signs[taken + weight] -= sign
    value = Fraction(0)
    for taken, sign in signs.items():
        if taken and sign:
            value = paper.add_fractions(value, paper.reduce(sign * whole, taken))
    return value


KINDS = (
    Kind(race_of_words, _solve_race, is_whole=False),
    Kind(markov_chain, _solve_markov_chain, last=8, is_whole=False),
    Kind(collector, _solve_collector, last=9, is_whole=False),
)
