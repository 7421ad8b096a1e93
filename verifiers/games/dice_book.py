"""Liar's dice in numbers: how opponents of each style play, and the exact chances of winning against them.

A bid is a number: bid `b` says that at least `b // faces + 1` of all dice show face `b % faces + 1`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from verigym.verifiers.games.dice_table import TABLE

LIAR = -1

Hand = tuple[int, ...]


class DiceBook:
    """The chances of winning with each move, against one style of play.

    The sequences of bids that end with bid `b` are numbered by which bids below `b` are in them, one bit
    each. `weights[b]` [2**b, H] is how likely the opponent's hand is and has led it to bid as it did, with
    the player to move; `values[b]` [2**b, H] the player's chance, by its own hand, times their sum.
    """

    def __init__(self, dice: int, faces: int, style: str) -> None:
        self.faces = faces
        self.hands, prior = hands_of(dice, faces)
        count = 2 * dice * faces
        plays = styles(dice, faces, style)
        plays = plays / plays.sum(
            axis=2, keepdims=True
        )  # [H, last + 1, move], the last move is a call
        true = np.array([[[holds(b, faces, own, other) for other in self.hands]
                          for own in self.hands] for b in range(count)], dtype=float)  # fmt: skip
        size = len(self.hands)
        mine = [np.zeros((1 << b, size)) for b in range(count)]
        theirs = [np.zeros((1 << b, size)) for b in range(count)]
        for b in range(count):
            theirs[b][0] = prior
            mine[b][0] = prior * plays[:, 0, b]
            for lower in range(b):
                theirs[b][1 << lower : 2 << lower] = mine[lower]
                mine[b][1 << lower : 2 << lower] = theirs[lower] * plays[:, lower + 1, b]
        values = [np.zeros_like(w) for w in mine]
        answers = [np.zeros_like(w) for w in theirs]
        for b in reversed(range(count)):
            answers[b] = (theirs[b] * plays[:, b + 1, count]) @ true[b].T
            best = mine[b] @ (1 - true[b]).T
            for higher in range(b + 1, count):
                answers[b] += values[higher][1 << b : 2 << b]
                best = np.maximum(best, answers[higher][1 << b : 2 << b])
            values[b] = best
        self._prior, self._true = prior, true
        self.weights, self.values, self._answers = mine, values, answers

    def chances(self, bids: tuple[int, ...], own: Hand) -> dict[int, float]:
        """Return the chance of winning by move; `bids` are all bids made so far, the opponent's
        last."""
        hand, count = self.hands.index(own), len(self.values)
        if not bids:
            return {b: float(self._answers[b][0, hand]) for b in range(count)}
        last, index = bids[-1], sum(1 << b for b in bids[:-1])
        weights = self.weights[last][index]
        total = weights.sum()
        chances = {LIAR: float(weights @ (1 - self._true[last][hand]) / total)}
        below = index | 1 << last
        for b in range(last + 1, count):
            chances[b] = float(self._answers[b][below, hand] / total)
        return chances

    def value(self) -> tuple[float, float]:
        """Return the chance of winning with the best moves, over all hands: as the one who begins, and not."""
        best = np.max([answers[0] for answers in self._answers], axis=0)
        return float(self._prior @ best), float(
            sum(self._prior @ values[0] for values in self.values)
        )


@lru_cache(maxsize=8)
def book(dice: int, faces: int, style: str) -> DiceBook:
    """Return the book of a style; a few are kept."""
    return DiceBook(dice, faces, style)


@lru_cache(maxsize=8)
def styles(dice: int, faces: int, style: str) -> np.ndarray[Any, np.dtype[Any]]:
    """Return the frequency of each move as whole weights [H, last bid + 1 or 0, move]; the last
    move is a call.

    `random` makes every move equally often. `honest` makes the call or higher bid that is most
    likely to be right given its own dice; among equals it takes the highest bid, and it calls only
    if a call is likelier than every bid. `equilibrium` follows the result of regret matching
    (`dice_table.py`).
    """
    hands, prior = hands_of(dice, faces)
    count = 2 * dice * faces
    weights = np.zeros((len(hands), count + 1, count + 1), dtype=int)
    for h, own in enumerate(hands):
        likely = [
            sum(p for p, other in zip(prior, hands, strict=True) if holds(b, faces, own, other))
            for b in range(count)
        ]
        for last in range(-1, count):
            row = weights[h, last + 1]
            if style == "equilibrium":
                row[last + 1 :] = TABLE[h][last + 1]
            elif style == "random":
                row[last + 1 :] = 1
                row[count] = last >= 0
            else:
                best = max(
                    range(last + 1, count), key=lambda b: (round(likely[b], 9), b), default=None
                )
                call = best is None or (last >= 0 and 1 - likely[last] > likely[best] + 1e-9)
                row[count if best is None or call else best] = 1
    return weights


@lru_cache(maxsize=8)
def hands_of(dice: int, faces: int) -> tuple[list[Hand], np.ndarray[Any, np.dtype[Any]]]:
    """Return all hands, sorted, and how likely each is [H]."""
    hands = list(combinations_with_replacement(range(1, faces + 1), dice))
    ways = [
        math.factorial(dice) / math.prod(math.factorial(hand.count(f)) for f in set(hand))
        for hand in hands
    ]
    return hands, np.array(ways) / faces**dice


def holds(bid: int, faces: int, own: Hand, other: Hand) -> bool:
    """Return True if a bid is true."""
    face = bid % faces + 1
    return own.count(face) + other.count(face) > bid // faces
