"""Liar's dice: bid and call as well as what you know allows; luck is not paid."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.dice_reckoning import reckoned
from verigym.envs.games.self_play import Duel
from verigym.verifiers.games.dice_book import LIAR, Hand, hands_of, holds, styles
from verigym.verifiers.games.duels import seeded
from verigym.verifiers.games.liars_dice import (
    MARGIN,
    TABLE_SHAPE,
    Bidding,
    name_of,
    open_moves,
)
from verigym.verifiers.games.rules import RULES

# Style of the opponent, dice of each, their faces, and rounds. An honest opponent is the hardest to do
# justice to: each bid says something about the bidder's dice, and has to be weighed.
LEVELS = {
    1: ("random", 1, 4, 2),
    2: ("random", 1, 6, 3),
    3: ("random", 1, 6, 5),
    4: ("equilibrium", 2, 3, 4),
    5: ("equilibrium", 2, 3, 6),
    6: ("honest", 2, 3, 5),
    7: ("honest", 2, 3, 7),
    8: ("honest", 2, 3, 10),
    9: ("honest", 2, 3, 14),
    10: ("honest", 2, 3, 20),
}

_GAME = """\
Each of two players rolls {dice} with faces 1 to {faces} and sees only their own. They take turns to bid how \
many of all dice show a face: 2 3 says that at least two dice show a 3. A higher bid has more dice, or equally \
many of a higher face. Instead of bidding, a player may call the other a liar, which ends the round: the caller \
wins if the last bid is false, and loses if it is true."""
_PROMPT = """\
Liar's dice, {rounds} rounds. {game}
You begin the first round, your opponent the second, and so on. Your opponent {style}.
You are judged by your choices and not by luck: a move is a mistake if its chance of winning the round, given what \
you can know, is more than {margin} below that of the best move. Play all rounds without a mistake. Answer with a \
higher bid, such as 2 3, or with liar."""
_PROMPT_SIDES = """\
Liar's dice. {game}
Answer with a higher bid, such as 2 3, or with liar. Any other answer loses the game."""
_STYLES = {
    "random": "chooses among all possible moves with equal probability",
    "honest": (
        "never bluffs. By its own dice it finds the higher bid that is most likely to be true, the highest of "
        "equally likely ones. It calls you a liar if your bid is more likely to be false than that bid is to be "
        "true, or if there is no higher bid; otherwise it makes that bid"
    ),
    "equilibrium": "plays close to a Nash equilibrium, bluffs included",
}


class LiarsDice(Duel):
    """The environment. An action is a bid such as `2 3`, or `liar`.

    The score is 1 if no move falls behind the best one by more than 0.05 in the chance of winning its
    round, given all that the player could know; so that to know the other's dice is worth nothing.
    """

    id: ClassVar[str] = "verigym/games/liars-dice-v0"
    game: ClassVar[str] = "liars-dice"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    recoverable: ClassVar[bool] = False

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        style, dice, faces, rounds = LEVELS[level]
        rolls = np.sort(rng.integers(1, faces + 1, (rounds, 2, dice)), axis=2).tolist()
        prompt = _PROMPT.format(
            rounds=rounds, game=_told(dice, faces), style=_STYLES[style], margin=MARGIN
        )
        return prompt, {
            "dice": dice,
            "faces": faces,
            "opponent": style,
            "seed": int(rng.integers(1 << 31)),
            "rounds": rolls,
            "turns": rounds * (dice * faces + 2),
            "essence": [faces, rolls],  # the same dice against another opponent are the same game
        }

    @override
    def draw_sides(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """One round. Without a number of its own each split would have some deals only, and
        what one holds would tell what the other may hold."""
        _, dice, faces, _ = LEVELS[level]
        rolls = np.sort(rng.integers(1, faces + 1, (1, 2, dice)), axis=2).tolist()
        return _PROMPT_SIDES.format(game=_told(dice, faces)), {
            "dice": dice,
            "faces": faces,
            "rounds": rolls,
            "seed": int(rng.integers(1 << 31)),
            "turns": 2 * dice * faces + 1,
        }

    @override
    def show(self, board: Bidding) -> str:
        """The opponent's dice of this round are not seen."""
        cup, lines = board.cup, []
        if board.last is not None:
            bids, called = board.last
            own, other = cup.rounds[board.round - 1]
            won = called != holds(bids[-1], cup.faces, own, other)
            lines.append(
                f"Round {board.round}: {'you' if called else 'your opponent'} called "
                f"{name_of(bids[-1], cup.faces)}; your dice {_dice(own)}, theirs {_dice(other)}: "
                f"{'you' if won else 'they'} won."
            )
        if board.over:
            return "\n".join(lines)
        lines.append(f"Round {board.round + 1} of {len(cup.rounds)}. Your dice: {_dice(board.own)}")
        return "\n".join([*lines, _bids(board.bids, cup.faces, board.round % 2)])

    @override
    def show_sides(self, board: Any, side: int) -> str:
        """While the game goes on each side sees its own dice alone."""
        hands, faces, bids, caller = board
        if caller is not None:
            return f"Dice: {_dice(hands[0])} and {_dice(hands[1])}"
        return f"Your dice: {_dice(hands[side])}\n{_bids(bids, faces, side)}"

    @override
    def position(self, board: Bidding) -> JSON:
        """The dice stand in the task."""
        return [board.round, board.bids, board.spoilt, board.good, board.last]

    @override
    def position_of_sides(self, board: Any) -> JSON:
        return [board[2], board[3]]

    @override
    def moves(self, board: Bidding) -> list[str]:
        cup = board.cup
        return [name_of(n, cup.faces) for n in open_moves(cup.dice, cup.faces, board.bids)]

    @override
    def lost(self, board: Bidding) -> bool:
        return RULES[self.game].lost(board)  # type: ignore[attr-defined,no-any-return]

    @override
    def best(self, board: Bidding) -> str | None:
        """Return the best move, given the dice that the player sees."""
        if board.good < board.round or board.spoilt:
            return None
        chances = board.chances
        return name_of(max(chances, key=lambda move: chances[move]), board.cup.faces)

    @override
    def strong(self, board: Any, side: int) -> str:
        """Play near equilibrium if that is known, else honestly; by its own dice alone."""
        hands, faces, bids, _ = board
        dice = len(hands[side])
        style = "equilibrium" if (dice, faces) == TABLE_SHAPE else "honest"
        row = styles(dice, faces, style)[
            hands_of(dice, faces)[0].index(hands[side]), bids[-1] + 1 if bids else 0
        ].tolist()
        draw = seeded(side, f"{hands[side]} {bids}", sum(row))
        number = next(n for n in range(len(row)) if draw < sum(row[: n + 1]))
        return name_of(LIAR if number == len(row) - 1 else number, faces)

    @override
    def effort(self, board: Bidding) -> int:
        """Count the reckoning of a round at the player's first move (`reckoned`); later moves follow from it."""
        return 1 if len(board.bids) > 1 else reckoned(board)[1]


def _told(dice: int, faces: int) -> str:
    return _GAME.format(dice="a die" if dice == 1 else f"{dice} dice", faces=faces)


def _dice(hand: Hand) -> str:
    return " ".join(map(str, hand))


def _bids(bids: tuple[int, ...], faces: int, first: int) -> str:
    """The bids so far; `first` is 0 if the one who reads began."""
    if not bids:
        return "No bid yet."
    whose = ("you", "your opponent")
    said = [f"{whose[(first + i) % 2]} {name_of(bid, faces)}" for i, bid in enumerate(bids)]
    return f"Bids: {', '.join(said)}."
