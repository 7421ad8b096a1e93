"""Blackjack: play hands as well as chance allows; luck is not paid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.blackjack import (
    MARGIN,
    MOVES,
    NEXT,
    RANKS,
    BlackjackTable,
    added,
    dealer_stands,
    total_of,
)

# Hands, how many of the moves may be made, and whether the deck is an odd one.
SIZES = {
    1: (3, 2, False),
    2: (5, 2, False),
    3: (5, 3, False),
    4: (6, 3, False),
    5: (7, 3, False),
    6: (8, 4, True),
    7: (12, 4, True),
    8: (18, 4, True),
    9: (27, 4, True),
    10: (40, 4, True),
}
FULL = (1, 1, 1, 1, 1, 1, 1, 1, 1, 4)
TURNS = 8
"""Moves that a hand takes at most."""

_PROMPT = """\
Blackjack: {hands} hands, with one bet on each. An ace counts 11, or 1 if 11 would bring the total above 21. \
A total above 21 loses; at 21 you stand automatically. When you stand, the dealer draws until the total is 17 or \
more{soft}. The higher total wins the bet; equal totals return it. An ace and a 10 are a 21 like any other, and \
pairs cannot be split. {deck} Each card is put back before the next one is drawn.
{moves}
You are judged by your choices and not by luck: a move is a mistake if its average gain, over all cards that may \
come, is more than {margin} bets below that of the best move. Play all hands without a mistake. Answer with one \
move: {names}."""

_SAYINGS = {
    "hit": "hit: take one more card.",
    "stand": "stand: take no more cards.",
    "double": "double: only with the first two cards; double the bet, take one card and stand.",
    "surrender": "surrender: only with the first two cards; give up the hand and half of the bet.",
}


class Blackjack(ReplayedGame):
    """The environment. An action is `hit`, `stand`, and at higher difficulties `double` or `surrender`.

    The score is 1 if no move falls behind the best one by more than 0.01 bets on average, however the
    cards fall; so that to know the cards to come is worth nothing.
    """

    id: ClassVar[str] = "verigym/games/blackjack-v0"
    game: ClassVar[str] = "blackjack"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """No hand begins with 21, or could take more than its turns."""
        count, known, odd = SIZES[level]
        deck: tuple[int, ...] = FULL
        soft17 = False
        if odd:
            # At least one ten, so that there are enough high cards to go by.
            deck = (*map(int, rng.integers(0, 5, 9)), int(rng.integers(1, 13)))
            soft17 = bool(rng.integers(2))
        pool = "".join(rank * n for rank, n in zip(RANKS, deck, strict=True))
        hands: list[list[str]] = []
        while len(hands) < count:
            for row in rng.integers(len(pool), size=(count + 2, NEXT + 3)).tolist():
                cards = "".join([pool[i] for i in row])
                own, coming = cards[:2], cards[3:]
                least = sum(RANKS.index(card) + 1 for card in own + coming[:TURNS])
                if total_of(own)[0] < 21 <= least and len(hands) < count:
                    hands.append([own, cards[2], coming])
        moves = MOVES[:known]
        prompt = _PROMPT.format(
            hands=count,
            soft=", and also on a 17 in which an ace counts 11" if soft17 else "",
            deck=_told(deck),
            moves="\n".join(f"- {_SAYINGS[move]}" for move in moves),
            margin=MARGIN,
            names=f"{', '.join(moves[:-1])} or {moves[-1]}",
        )
        return prompt, {
            "deck": list(deck),
            "soft17": soft17,
            "moves": list(moves),
            "hands": hands,
            "turns": count * TURNS,
        }

    @override
    def show(self, board: BlackjackTable) -> str:
        lines = []
        if board.last is not None:
            own, dealer, gain = board.last
            totals = f"you had {own}" + (f", the dealer {dealer}" if dealer else "")
            result = f"you {'won' if gain > 0 else 'lost'} {abs(gain):g}" if gain else "nobody won"
            lines.append(f"Hand {board.hand}: {totals}; {result}.")
        if not board.over:
            total, soft = total_of(board.cards)
            cards = " ".join(map(_card, board.cards))
            lines.append(
                f"Hand {board.hand + 1} of {len(board.house.hands)}: you hold {cards}, "
                f"{'soft ' if soft else ''}total {total}; the dealer shows {_card(_up(board))}."
            )
        return "\n".join(lines)

    @override
    def position(self, board: BlackjackTable) -> JSON:
        """Includes the end of the previous hand, which is shown."""
        last = None if board.last is None else list(board.last)
        return [board.hand, board.drawn, board.spoilt, board.good, last]

    @override
    def moves(self, board: BlackjackTable) -> list[str]:
        return list(board.open)

    @override
    def lost(self, board: BlackjackTable) -> bool:
        return board.over and board.good < board.hand

    @override
    def best(self, board: BlackjackTable) -> str | None:
        """It knows the deck, not the cards to come."""
        if board.over or board.spoilt or board.good < board.hand:
            return None
        gains = board.gains
        return max(gains, key=lambda move: gains[move])

    @override
    def work(self, state: Play) -> int:
        """Count the reckoning of a hand when it begins (`reckon`); later moves of the hand follow from it."""
        return 1 if state.board.drawn else reckon(state.board)[1]


def reckon(board: BlackjackTable) -> tuple[dict[str, float], int]:
    """Return the expected gain of each move that can be made, and the operations that it takes.

    A player works out where the dealer ends, and then the best play of every total, from the highest down.
    An operation adds a card to a total, multiplies by the number of its cards, compares totals or compares
    gains.
    """
    house, operations = board.house, 0
    size = sum(house.deck)
    ends: dict[tuple[int, bool], dict[int, float]] = {}
    stands: dict[int, float] = {}
    best: dict[tuple[int, bool], float] = {}

    def drawn() -> Iterator[tuple[int, float]]:
        nonlocal operations
        for rank, n in enumerate(house.deck):
            if n:
                operations += 1
                if n > 1:
                    operations += 1
                yield rank, n / size

    def dealer_ends(total: int, soft: bool) -> dict[int, float]:
        if dealer_stands(total, soft, house.soft17):
            return {total: 1.0}
        if (total, soft) not in ends:
            found: dict[int, float] = {}
            for rank, chance in drawn():
                for end, likely in dealer_ends(*added(total, soft, rank)).items():
                    found[end] = found.get(end, 0.0) + chance * likely
            ends[total, soft] = found
        return ends[total, soft]

    dealt = dealer_ends(*added(0, False, RANKS.index(_up(board))))

    def standing(own: int) -> float:
        nonlocal operations
        gain = 0.0
        for end, likely in dealt.items():
            operations += 1
            gain += likely * (1 if end > 21 or end < own else -1 if end > own else 0)
        return gain

    for own in range(4, 22):
        stands[own] = standing(own)

    def hitting(total: int, soft: bool) -> float:
        gain = 0.0
        for rank, chance in drawn():
            after = added(total, soft, rank)
            gain += chance * (best[after] if after[0] < 21 else stands.get(after[0], -1.0))
        return gain

    # Hard totals from 11 on never become soft, soft ones never fall below 12.
    for total, soft in (*_HARD[:10], *_SOFT, *_HARD[10:]):
        operations += 1
        best[total, soft] = max(stands[total], hitting(total, soft))
    total, soft = total_of(board.cards)
    gains = {"hit": hitting(total, soft), "stand": stands[total], "surrender": -0.5, "double": 0.0}
    if "double" in board.open:
        for rank, chance in drawn():
            own = added(total, soft, rank)[0]
            gains["double"] += chance * 2 * standing(own) if own <= 21 else -2 * chance
    for _ in board.open:
        operations += 1
    return {move: gains[move] for move in board.open}, operations


_HARD = [(total, False) for total in range(20, 3, -1)]
_SOFT = [(total, True) for total in range(20, 11, -1)]


def _told(deck: tuple[int, ...]) -> str:
    """The deck in words."""
    if deck == FULL:
        return "The deck has the usual 52 cards; jack, queen and king count 10."
    counts = [f"{_card(rank)}: {n}" for rank, n in zip(RANKS, deck, strict=True) if n]
    return f"The deck is unusual; its cards, by rank, are {', '.join(counts)}."


def _card(rank: str) -> str:
    return "10" if rank == "T" else rank


def _up(board: BlackjackTable) -> str:
    return board.house.hands[board.hand][1]
