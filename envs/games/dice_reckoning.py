"""The reckoning of a round of liar's dice by a player who knows the opponent's style: exact, and counted.

It goes through all that may follow, and weighs the opponent's hands by how likely each makes the bids that
were made. Positions in which the same is known are reckoned once.
"""

from __future__ import annotations

from verigym.verifiers.games.dice_book import LIAR, hands_of, holds
from verigym.verifiers.games.dice_table import TABLE
from verigym.verifiers.games.liars_dice import Bidding

Beliefs = tuple[float, ...]
"""Probability of each hand of the opponent."""


class Reckoning:
    """Chances of winning one round against one style, for the player's own dice.

    `operations` counts the hands that are weighed, and the moves that are compared to find the opponent's.
    """

    def __init__(self, board: Bidding) -> None:
        self.operations = 0
        cup = board.cup
        self._own, self._faces, self._style = board.own, cup.faces, cup.style
        self._hands, prior = hands_of(cup.dice, cup.faces)
        self._prior: Beliefs = tuple(prior.tolist())
        self._count = 2 * cup.dice * cup.faces
        self._reckoned: dict[tuple[int, Beliefs], float] = {}

    def chances(self, bids: tuple[int, ...]) -> dict[int, float]:
        """Return the chance of winning with each move; `bids` is empty or the opponent's first bid."""
        beliefs, last = self._prior, bids[-1] if bids else -1
        if bids:
            beliefs = self._replies(-1, beliefs)[last]
        total = sum(beliefs)
        chances = {b: self._bid(b, beliefs) / total for b in range(last + 1, self._count)}
        if bids:
            chances[LIAR] = self._call(last, beliefs) / total
        return chances

    def _call(self, last: int, beliefs: Beliefs) -> float:
        """The chance that the last bid is wrong."""
        chance = 0.0
        for hand, likely in zip(self._hands, beliefs, strict=True):
            if likely:
                self.operations += 1
                chance += likely * (not holds(last, self._faces, self._own, hand))
        return chance

    def _bid(self, bid: int, beliefs: Beliefs) -> float:
        """The chance of winning after a bid of the player's."""
        chance = 0.0
        for reply, after in self._replies(bid, beliefs).items():
            if reply == LIAR:
                chance += sum(after) - self._call(bid, after)
            else:
                chance += self._best(reply, after)
        return chance

    def _best(self, last: int, beliefs: Beliefs) -> float:
        """The chance of winning with the best move after a bid of the opponent's."""
        total = sum(beliefs)
        known = last, tuple(round(likely / total, 9) for likely in beliefs)
        if known not in self._reckoned:
            best = self._call(last, beliefs)
            for bid in range(last + 1, self._count):
                self.operations += 1
                best = max(best, self._bid(bid, beliefs))
            self._reckoned[known] = best / total
        return self._reckoned[known] * total

    def _replies(self, bid: int, beliefs: Beliefs) -> dict[int, Beliefs]:
        """The opponent's moves after `bid`, -1 for none, and how likely each hand makes each."""
        replies: dict[int, list[float]] = {}
        for h, likely in enumerate(beliefs):
            if likely:
                self.operations += 1
                for move, share in self._plays(h, bid).items():
                    replies.setdefault(move, [0.0] * len(beliefs))[h] += likely * share
        return {move: tuple(after) for move, after in replies.items()}

    def _plays(self, h: int, last: int) -> dict[int, float]:
        """Return the probability of each move of the opponent with one hand."""
        moves = [*range(last + 1, self._count), LIAR]
        if self._style == "equilibrium":
            row = TABLE[h][last + 1]
            return {move: n / sum(row) for move, n in zip(moves, row, strict=True) if n}
        if self._style == "random":
            moves = moves if last >= 0 else moves[:-1]
            return dict.fromkeys(moves, 1 / len(moves))
        likely = {bid: self._likely(h, bid) for bid in moves[:-1]}
        best = max(likely, key=lambda bid: (likely[bid], bid), default=LIAR)
        if last >= 0 and (best == LIAR or 1 - self._likely(h, last) > likely[best] + 1e-9):
            return {LIAR: 1.0}
        return {best: 1.0}

    def _likely(self, h: int, bid: int) -> float:
        """Return the probability that a bid is true, as the holder of a hand sees it."""
        likely = 0.0
        for hand, share in zip(self._hands, self._prior, strict=True):
            self.operations += 1
            likely += share * holds(bid, self._faces, self._hands[h], hand)
        return round(likely, 9)


def reckoned(board: Bidding) -> tuple[dict[int, float], int]:
    """Return the chance of winning the round with each move, at the player's first move in it, and the
    operations that it takes."""
    reckoning = Reckoning(board)
    return reckoning.chances(board.bids), reckoning.operations
