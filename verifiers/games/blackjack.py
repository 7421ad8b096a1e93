"""Rules of blackjack, where moves are judged by their expected gain and never by luck.

Cards are put back after each draw, so what the next one may be depends on nothing that was seen, and the
expected gain of each move is exact: sums over ten ranks (`BlackjackBook`). A hand is well played where no move
in it falls behind the best one by more than `MARGIN`; the goal is to play every hand well. To know
which cards will come helps nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from verigym.canonical import JSON
from verigym.errors import TaskError

RANKS = "A23456789T"
MOVES = ("hit", "stand", "double", "surrender")
MARGIN = 0.01
"""Largest expected loss against the best move, in bets, at which a move still counts as well
played."""
NEXT = 36
"""Cards that are dealt in advance for one hand: more than a player and a dealer can take."""


@dataclass(frozen=True, slots=True)
class TableRules:
    """Settings that stay fixed: number of cards of each rank, whether the dealer hits soft 17, the
    moves allowed, and for each hand the player's two cards, the dealer's card and the cards to
    come."""

    deck: tuple[int, ...]
    soft17: bool
    moves: tuple[str, ...]
    hands: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class BlackjackTable:
    """State of play: the current hand, the cards drawn for it, and how well it was played.

    `good` counts the hands before that were well played. `last` is how the hand before ended: the
    player's and the dealer's total (0 if the dealer did not play), and what was gained.
    """

    house: TableRules
    hand: int = 0
    drawn: int = 0
    spoilt: bool = False
    good: int = 0
    last: tuple[int, int, float] | None = None

    @property
    def over(self) -> bool:
        """True if all hands are played."""
        return self.hand == len(self.house.hands)

    @property
    def cards(self) -> str:
        """The player's cards."""
        own, _, coming = self.house.hands[self.hand]
        return own + coming[: self.drawn]

    @property
    def open(self) -> tuple[str, ...]:
        """The moves that can be made: doubling and surrender on two cards only."""
        if self.over:
            return ()
        return tuple(m for m in self.house.moves if m in ("hit", "stand") or not self.drawn)

    @property
    def gains(self) -> dict[str, float]:
        """Expected gain of each available move, in bets."""
        up = RANKS.index(self.house.hands[self.hand][1])
        some = book(self.house.deck, self.house.soft17).gains(*total_of(self.cards), up)
        return {move: some[MOVES.index(move)] for move in self.open}


class BlackjackRules:
    """`{"deck": [1, 1, ...], "hands": [["9T", "6", "A3..."]], "moves": ["hit", "stand"], "soft17": false}`.

    `deck` counts the cards of rank A, 2 to 9 and ten. A move is one of `moves`, whose choice is hit, stand,
    double and surrender. Won if every hand is over and was well played.
    """

    def start(self, reference: Mapping[str, JSON]) -> BlackjackTable:
        deck, soft17 = reference.get("deck"), reference.get("soft17", False)
        if (
            not isinstance(deck, list | tuple)
            or len(deck) != len(RANKS)
            or not all(type(n) is int and 0 <= n <= 1000 for n in deck)
            or not any(deck)
        ):
            raise TaskError("blackjack: deck must be ten whole numbers of 0 to 1000, not all 0")
        moves = reference.get("moves")
        if not isinstance(moves, list | tuple) or not {"hit", "stand"} <= set(moves) <= set(MOVES):
            raise TaskError(f"blackjack: moves must be hit, stand, and others of {MOVES}")
        raw = reference.get("hands")
        if (
            not isinstance(raw, list | tuple)
            or not 1 <= len(raw) <= 100
            or type(soft17) is not bool
        ):
            raise TaskError("blackjack: hands must be a list of 1 to 100, soft17 true or false")
        counts = tuple(int(str(n)) for n in deck)
        return BlackjackTable(
            TableRules(counts, soft17, tuple(map(str, moves)), tuple(map(_hand, raw)))
        )

    def read(self, move: JSON) -> str | None:
        word = move.strip().lower().rstrip(".") if isinstance(move, str) and len(move) < 40 else ""
        return word if word in MOVES else None

    def legal(self, state: BlackjackTable, move: str) -> bool:
        return move in state.open

    def apply(self, state: BlackjackTable, move: str) -> BlackjackTable:
        gain = state.gains
        spoilt = state.spoilt or max(gain.values()) - gain[move] > MARGIN
        if move in ("hit", "double"):
            drawn = replace(state, drawn=state.drawn + 1, spoilt=spoilt)
            if move == "hit" and total_of(drawn.cards)[0] < 21:
                return drawn
            return _settled(drawn, spoilt, 2.0 if move == "double" else 1.0)
        if move == "surrender":
            last = (total_of(state.cards)[0], 0, -0.5)
            return _next(state, spoilt, last)
        return _settled(state, spoilt, 1.0)

    def won(self, state: BlackjackTable) -> bool:
        return state.over and state.good == state.hand

    def lost(self, state: BlackjackTable) -> bool:
        """Return True if all hands are over and not all were well played."""
        return state.over and not self.won(state)

    def share(self, state: BlackjackTable) -> float:
        """Return the share of hands that were well played."""
        return state.good / len(state.house.hands)


def total_of(cards: str) -> tuple[int, bool]:
    """Return the total of the cards, and True if it counts an ace as 11."""
    total = sum(RANKS.index(card) + 1 for card in cards)
    soft = "A" in cards and total <= 11
    return (total + 10 if soft else total), soft


def added(total: int, soft: bool, rank: int) -> tuple[int, bool]:
    """Return the hand with one more card of `rank`, where 0 is the ace."""
    total += rank + 1
    if not rank and total <= 11:
        return total + 10, True
    return (total - 10, False) if soft and total > 21 else (total, soft)


class BlackjackBook:
    """Expected gains of moves with one deck, computed on demand."""

    def __init__(self, deck: tuple[int, ...], soft17: bool) -> None:
        self.chances = [(rank, n / sum(deck)) for rank, n in enumerate(deck) if n]
        self.soft17 = soft17
        self._ends: dict[tuple[int, bool], tuple[float, ...]] = {}
        self._gains: dict[tuple[int, bool, int], tuple[float, float, float, float]] = {}

    def ends(self, total: int, soft: bool) -> tuple[float, ...]:
        """Return the probabilities that a dealer with this total ends with 17, 18, 19, 20, 21, and
        over 21."""
        found = self._ends.get((total, soft))
        if found is None:
            ends = [0.0] * 6
            if dealer_stands(total, soft, self.soft17):
                ends[min(total, 22) - 17] = 1.0
            else:
                for rank, chance in self.chances:
                    for i, end in enumerate(self.ends(*added(total, soft, rank))):
                        ends[i] += chance * end
            found = self._ends[total, soft] = tuple(ends)
        return found

    def standing(self, total: int, up: int) -> float:
        """Return the expected gain of standing against the dealer's card `up`; a total over 21
        loses."""
        if total > 21:
            return -1.0
        ends = self.ends(*added(0, False, up))
        return ends[5] + sum(ends[i] * ((total > 17 + i) - (total < 17 + i)) for i in range(5))

    def gains(self, total: int, soft: bool, up: int) -> tuple[float, float, float, float]:
        """Return the expected gain of each of `MOVES`, in bets, if all later moves are the best
        ones."""
        found = self._gains.get((total, soft, up))
        if found is None:
            hit = double = 0.0
            for rank, chance in self.chances:
                after, softly = added(total, soft, rank)
                stood = self.standing(after, up)
                double += chance * 2 * stood
                hit += chance * (max(self.gains(after, softly, up)[:2]) if after < 21 else stood)
            found = hit, self.standing(total, up), double, -0.5
            self._gains[total, soft, up] = found
        return found


@lru_cache(maxsize=32)
def book(deck: tuple[int, ...], soft17: bool) -> BlackjackBook:
    """Return the book of a deck; those last asked for are kept."""
    return BlackjackBook(deck, soft17)


def dealer_stands(total: int, soft: bool, soft17: bool) -> bool:
    """Return True if the dealer takes no more cards; with `soft17` the dealer hits a 17 that
    counts an ace as 11."""
    return total > 16 and not (soft17 and soft and total == 17)


def _settled(state: BlackjackTable, spoilt: bool, bet: float) -> BlackjackTable:
    """The hand after the dealer has played, where the player's is not over 21."""
    own = total_of(state.cards)[0]
    if own > 21:
        return _next(state, spoilt, (own, 0, -bet))
    _, dealer, coming = state.house.hands[state.hand]
    at = state.drawn
    total, soft = total_of(dealer)
    while not dealer_stands(total, soft, state.house.soft17):
        dealer += coming[at]
        total, soft = total_of(dealer)
        at += 1
    gain = bet if total > 21 or own > total else -bet if own < total else 0.0
    return _next(state, spoilt, (own, total, gain))


def _next(state: BlackjackTable, spoilt: bool, last: tuple[int, int, float]) -> BlackjackTable:
    return BlackjackTable(state.house, state.hand + 1, 0, False, state.good + (not spoilt), last)


def _hand(raw: JSON) -> tuple[str, str, str]:
    if isinstance(raw, list | tuple) and len(raw) == 3 and all(isinstance(s, str) for s in raw):
        own, up, coming = map(str, raw)
        lengths = (len(own), len(up), len(coming)) == (2, 1, NEXT)
        if lengths and not set(own + up + coming) - set(RANKS) and total_of(own)[0] < 21:
            return own, up, coming
    raise TaskError(
        f"blackjack: a hand is two cards below 21, the dealer's card, and {NEXT} to come, of {RANKS}; "
        f"got {raw!r}"
    )
