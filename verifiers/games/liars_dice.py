"""Rules of liar's dice for two, where moves are judged by their chance of winning and never by luck.

A bid is a number: bid `b` says that at least `b // faces + 1` of all dice show face `b % faces + 1`, and
a bid must be higher than the one before. The opponent's moves depend on its dice and the last bid alone,
by weights that are known (`styles`), so what it holds is known up to exact chances, and with them the
chance of winning with each move (`Book`): sums over all that can follow. A round is well played where no
move in it falls behind the best one by more than `MARGIN`; the goal is to play every round well. What
the opponent really holds has no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.dice_book import LIAR, Hand, book, hands_of, holds, styles
from verigym.verifiers.games.duels import seeded

STYLES = ("random", "honest", "equilibrium")
MARGIN = 0.05
"""Largest loss of winning probability against the best move at which a move still counts as good."""
MOST_BIDS = 12
"""Maximum number of bids; all two to this power sequences of bids are examined."""
TABLE_SHAPE = (2, 3)
"""Dice of each and faces that `equilibrium` is known for."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Cup:
    """Settings that stay fixed: number of dice of each side, their faces, the opponent's style and
    seed, and for each round the player's hand and the opponent's, both sorted. The player begins
    rounds 1, 3, 5 and so on."""

    dice: int
    faces: int
    style: str
    seed: int
    rounds: tuple[tuple[Hand, Hand], ...]


@dataclass(frozen=True, slots=True)
class Bidding:
    """The round that is played, the bids made in it, and how well it was played.

    `good` counts the rounds before that were well played. `last` is how the round before ended: its bids,
    and whether the player called.
    """

    cup: Cup
    round: int = 0
    bids: tuple[int, ...] = ()
    spoilt: bool = False
    good: int = 0
    last: tuple[tuple[int, ...], bool] | None = None

    @property
    def over(self) -> bool:
        """True if all rounds are played."""
        return self.round == len(self.cup.rounds)

    @property
    def own(self) -> Hand:
        """The player's dice."""
        return self.cup.rounds[self.round][0]

    @property
    def chances(self) -> dict[int, float]:
        """The chance of winning the round with each move, where all moves after it are the best ones."""
        cup = self.cup
        return book(cup.dice, cup.faces, cup.style).chances(self.bids, self.own)


class LiarsDiceRules:
    """`{"dice": 1, "faces": 6, "opponent": "honest", "seed": 7, "rounds": [[[3], [5]]]}`.

    A round is the player's dice and the opponent's. A move is `2 3`, at least two threes, or `liar`. Won
    if every round is over and was well played.
    """

    def start(self, reference: Mapping[str, JSON]) -> Bidding:
        dice, faces = shape_of(reference)
        style, seed, rounds = (reference.get(name) for name in ("opponent", "seed", "rounds"))
        if style not in STYLES or type(seed) is not int:
            raise TaskError(
                f"liars-dice: opponent must be one of {', '.join(STYLES)}, seed a whole number, got "
                f"{style!r} and {seed!r}"
            )
        if style == "equilibrium" and (dice, faces) != TABLE_SHAPE:
            raise TaskError(f"liars-dice: the equilibrium is known for dice, faces = {TABLE_SHAPE}")
        if not isinstance(rounds, list | tuple) or not 1 <= len(rounds) <= 100:
            raise TaskError("liars-dice: rounds must be a list of 1 to 100")
        cup = Cup(dice, faces, str(style), seed, tuple(pair_of(r, dice, faces) for r in rounds))
        return Bidding(cup)

    def read(self, move: JSON) -> int | tuple[int, int] | None:
        return read_bid(move)

    def legal(self, state: Bidding, move: int | tuple[int, int]) -> bool:
        return not state.over and number_of(move, state.cup.faces) in open_moves(
            state.cup.dice, state.cup.faces, state.bids
        )

    def apply(self, state: Bidding, move: int | tuple[int, int]) -> Bidding:
        number = number_of(move, state.cup.faces)
        assert number is not None  # `legal` has seen it
        chances = state.chances
        spoilt = state.spoilt or max(chances.values()) - chances[number] > MARGIN + _ROUNDING
        state = replace(state, spoilt=spoilt)
        if number == LIAR:
            return begun(_ended(state, True))
        return _answered(replace(state, bids=(*state.bids, number)))

    def won(self, state: Bidding) -> bool:
        return state.over and state.good == state.round

    def lost(self, state: Bidding) -> bool:
        """Return True if all rounds are over and not all were well played."""
        return state.over and not self.won(state)

    def share(self, state: Bidding) -> float:
        """Return the share of rounds that were well played."""
        return state.good / len(state.cup.rounds)


class DiceContest:
    """`{"dice": 1, "faces": 6, "rounds": [[[3], [5]]]}`: one round; each side has seen its own dice alone.

    A board is the dice of each, how many faces they have, the bids, and who has called (or None).
    """

    def start(self, reference: Mapping[str, JSON]) -> tuple[Any, ...]:
        dice, faces = shape_of(reference)
        rounds = reference.get("rounds")
        if not isinstance(rounds, list | tuple) or len(rounds) != 1:
            raise TaskError("liars-dice: a game of two sides is one round")
        return pair_of(rounds[0], dice, faces), faces, (), None

    def read(self, move: JSON) -> int | tuple[int, int] | None:
        return read_bid(move)

    def moves(self, board: tuple[Any, ...], side: int) -> dict[int | tuple[int, int], str]:
        hands, faces, bids, _ = board
        numbers = open_moves(len(hands[0]), faces, bids)
        return {_pair(n, faces): name_of(n, faces) for n in numbers}

    def play(self, board: tuple[Any, ...], side: int, move: Any) -> tuple[Any, ...]:
        hands, faces, bids, _ = board
        if move == LIAR:
            return hands, faces, bids, side
        return hands, faces, (*bids, number_of(move, faces)), None

    def outcome(self, board: tuple[Any, ...]) -> float | None:
        hands, faces, bids, caller = board
        if caller is None:
            return None
        winner = 1 - caller if holds(bids[-1], faces, *hands) else caller
        return float(winner == 0)


def open_moves(dice: int, faces: int, bids: tuple[int, ...]) -> list[int]:
    """Return the moves that can be made, bids first."""
    higher = list(range(bids[-1] + 1 if bids else 0, 2 * dice * faces))
    return [*higher, LIAR] if bids else higher


def begun(state: Bidding) -> Bidding:
    """Return the state, including the opponent's bid if it begins the round."""
    return _answered(state) if not state.over and state.round % 2 and not state.bids else state


def read_bid(move: JSON) -> int | tuple[int, int] | None:
    """Return the number of dice and the face of a bid, or `LIAR`; None for anything else."""
    if not isinstance(move, str) or len(move) > 20:
        return None
    text = move.strip().lower().rstrip(".!")
    if text == "liar":
        return LIAR
    words = text.replace("x", " ").replace(",", " ").split()
    if len(words) != 2 or not all(word.isdecimal() and word.isascii() for word in words):
        return None
    return int(words[0]), int(words[1])


def number_of(move: int | tuple[int, int], faces: int) -> int | None:
    """Return the number of a bid as read; None for one that no dice could make true."""
    if isinstance(move, int):
        return move
    many, face = move
    return (many - 1) * faces + face - 1 if many > 0 and 0 < face <= faces else None


def name_of(number: int, faces: int) -> str:
    """Return a move as it is written."""
    return "liar" if number == LIAR else f"{number // faces + 1} {number % faces + 1}"


def shape_of(reference: Mapping[str, JSON]) -> tuple[int, int]:
    """Return the dice and faces of a reference."""
    dice, faces = reference.get("dice"), reference.get("faces")
    if type(dice) is not int or type(faces) is not int or dice < 1 or faces < 2:
        raise TaskError(
            f"liars-dice: dice and faces must be whole numbers, got {dice!r}, {faces!r}"
        )
    if 2 * dice * faces > MOST_BIDS:
        raise TaskError(f"liars-dice: 2 * dice * faces must be at most {MOST_BIDS}")
    return dice, faces


def pair_of(raw: JSON, dice: int, faces: int) -> tuple[Hand, Hand]:
    """Return the hands of a round, sorted."""
    if isinstance(raw, list | tuple) and len(raw) == 2:
        hands = [
            tuple(sorted(int(str(n)) for n in hand if type(n) is int and 1 <= n <= faces))
            for hand in raw
            if isinstance(hand, list | tuple) and len(hand) == dice
        ]
        if len(hands) == 2 and all(len(hand) == dice for hand in hands):
            return hands[0], hands[1]
    raise TaskError(f"liars-dice: a round is two hands of {dice} dice of 1 to {faces}, got {raw!r}")


def _pair(number: int, faces: int) -> int | tuple[int, int]:
    return LIAR if number == LIAR else (number // faces + 1, number % faces + 1)


def _answered(state: Bidding) -> Bidding:
    """The state after the opponent's move."""
    cup, last = state.cup, state.bids[-1] if state.bids else -1
    hands, _ = hands_of(cup.dice, cup.faces)
    other = cup.rounds[state.round][1]
    row = styles(cup.dice, cup.faces, cup.style)[hands.index(other), last + 1].tolist()
    draw = seeded(cup.seed, f"{state.round} {state.bids}", sum(row))
    number = 0
    while draw >= row[number]:
        draw -= row[number]
        number += 1
    if number == len(row) - 1:
        return begun(_ended(state, False))
    return replace(state, bids=(*state.bids, number))


def _ended(state: Bidding, called: bool) -> Bidding:
    good = state.good + (not state.spoilt)
    return Bidding(state.cup, state.round + 1, (), False, good, (state.bids, called))
