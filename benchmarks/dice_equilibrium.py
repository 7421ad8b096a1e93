"""Finds the table in `verifiers/games/dice_table.py`: `python benchmarks/dice_equilibrium.py`.

CFR+ (Tammelin 2014, arXiv 1407.5042) over all sequences of bids of liar's dice, then
the average over sequences with the same last bid, in hundredths. Prints the game's value for who begins,
in [-1, 1], and the table. A few seconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verigym.verifiers.games.dice_book import hands_of, holds

DICE, FACES, ROUNDS, SCALE = 2, 3, 300, 100

Array = np.ndarray[Any, np.dtype[Any]]


def solve(dice: int, faces: int, rounds: int) -> tuple[list[Array], float]:
    """Average strategies [sequences, hand, move] by last bid (none first), and the value.

    Sequences that end with bid `b` are numbered by the bids below it, one bit each, as in `Book`; moves are the
    higher bids in order, and a call.
    """
    hands, prior = hands_of(dice, faces)
    count, size = 2 * dice * faces, len(hands)
    # What the one who is called gains, by the caller's hand and the other's.
    true = np.array([[[1.0 if holds(b, faces, own, other) else -1.0 for other in hands]
                      for own in hands] for b in range(count)])  # fmt: skip
    many = [1, *(1 << b for b in range(count))]
    regret = [np.zeros((n, size, count - i + 1)) for i, n in enumerate(many)]
    total = [np.zeros_like(r) for r in regret]
    value = 0.0
    for turn in range(1, rounds + 1):
        plays = [_matched(r, i) for i, r in enumerate(regret)]
        mine = [
            np.ones((n, size)) for n in many
        ]  # how likely the side to move comes here, by its hand
        theirs = [np.ones((n, size)) for n in many]
        for i in range(count + 1):
            for j in range(i + 1, count + 1):
                mine[j][_after(i)] = theirs[i]
                theirs[j][_after(i)] = mine[i] * plays[i][:, :, j - i - 1]
        gain_mine: list[Array] = [np.zeros(0)] * (count + 1)
        gain_theirs: list[Array] = [np.zeros(0)] * (count + 1)
        for i in range(count, -1, -1):
            by_move, other = np.zeros_like(regret[i]), np.zeros((many[i], size))
            for j in range(i + 1, count + 1):
                by_move[:, :, j - i - 1] = gain_theirs[j][_after(i)]
                other += gain_mine[j][_after(i)]
            if i:
                by_move[:, :, -1] = (theirs[i] * prior) @ -true[i - 1].T
                other += (mine[i] * plays[i][:, :, -1] * prior) @ true[i - 1]
            gain = (plays[i] * by_move).sum(axis=2)
            gain_mine[i], gain_theirs[i] = gain, other
            regret[i] = np.maximum(regret[i] + by_move - gain[:, :, None], 0)
            total[i] += turn * (mine[i] * (theirs[i] @ prior)[:, None])[:, :, None] * plays[i]
        regret[0][:, :, -1] = 0
        value = float(gain_mine[0][0] @ prior)
    return total, value


def _after(i: int) -> slice:
    """Which sequences go on from those with last bid `i - 1`, where the next bid is any higher one."""
    return slice(0, 1) if i == 0 else slice(1 << i - 1, 2 << i - 1)


def _matched(regret: Array, i: int) -> Array:
    regret = regret.copy()
    even = np.ones_like(regret)
    if i == 0:
        regret[:, :, -1] = even[:, :, -1] = 0
    whole = regret.sum(axis=2, keepdims=True)
    even /= even.sum(axis=2, keepdims=True)
    return np.where(whole > 1e-15, regret / np.maximum(whole, 1e-15), even)


def table(total: list[Array]) -> list[list[list[int]]]:
    """By hand and last bid, hundredths that sum to 100."""
    rows = []
    for hand in range(total[0].shape[1]):
        rows.append([_rounded(weights[:, hand, :].sum(axis=0)) for weights in total])
    return rows


def _rounded(weights: Array) -> list[int]:
    shares = weights / weights.sum() * SCALE
    whole = np.floor(shares).astype(int)
    for place in np.argsort(whole - shares)[: SCALE - whole.sum()]:
        whole[place] += 1
    return [int(n) for n in whole]


if __name__ == "__main__":
    found, worth = solve(DICE, FACES, ROUNDS)
    print(f"value {worth:.6f}")
    for hand_rows in table(found):
        print(hand_rows)
