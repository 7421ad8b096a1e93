"""`Duel`: the base of games of two, against an opponent of the environment's own or with both sides played.

With `opponent="self"` each step is a move of the side whose turn it is. The observation is for that side
and says so; `info` carries `player` (0 for the side that began, 1 for the other: whose turn it is) and
`rewards`, for both sides, (0.0, 0.0) until the game ends and then (1, -1), (-1, 1) or, for a draw,
(0, 0). The reward of the last step is the verdict's score, which is side 0's: 1, 1/2 or 0.

An action that is no legal move forfeits the game, so that sides always move in turn and none can hold
the other up. Where `max_turns` cuts a game short nothing is judged, and neither side gets anything.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Move, Transition
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.errors import RequestError
from verigym.task import Task
from verigym.verdict import Verdict
from verigym.verifiers.games.contests import CONTESTS, SELF, Contest, Sides, moved, outcome

_LONGEST = 100
"""Maximum number of characters of a move; longer text is not a move."""


class Duel(ReplayedGame):
    """Base class of duels: an author also writes `draw_sides`, `show_sides`, `position_of_sides`
    and `strong`.

    With `opponent` None the opponent is that of the level. The task records the mode that it
    is played in.
    """

    names: ClassVar[tuple[str, str]] = ("the first player", "the second player")
    """Names of the two sides."""

    def __init__(self, *, opponent: str | None = None, **kwargs: Any) -> None:
        if opponent not in (None, SELF):
            raise RequestError(
                f'opponent must be None, for the one of the level, or "self", got {opponent!r}'
            )
        self.opponent = opponent
        super().__init__(**kwargs)

    @abstractmethod
    def draw_sides(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Return the prompt, for both sides, and the data that the contest starts from; its
        `turns` is the longest game.

        `essence` is used as in `draw`.
        """

    @abstractmethod
    def show_sides(self, board: Any, side: int) -> str:
        """Return the observation of `side`."""

    @abstractmethod
    def position_of_sides(self, board: Any) -> JSON:
        """Return the part of `board` that moves can change."""

    @abstractmethod
    def strong(self, board: Any, side: int) -> str:
        """Return a good move of `side`."""

    @abstractmethod
    def effort(self, board: Any) -> int:
        """Return `work` against an opponent."""

    @property
    def contest(self) -> Contest:
        """Return the rules for both sides."""
        return CONTESTS[self.game]

    @property
    def player(self) -> int:
        """Side to move: 0 or 1; 0 against an opponent."""
        board = self.state.board
        return board.turn if isinstance(board, Sides) else 0

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        if self.opponent != SELF:
            return super().generate(rng, level)
        prompt, reference = self.draw_sides(rng, level)
        essence = reference.pop("essence", None)
        reference = {"game": self.game, "opponent": SELF, **reference}
        return Draft(prompt=prompt, reference=reference, essence=essence)

    @override
    def initial(self, task: Task) -> Play:
        assert isinstance(task.reference, dict)
        if task.reference.get("opponent") == SELF:
            return Play(Sides(self.contest.start(task.reference)))
        return super().initial(task)

    @override
    def observe(self, state: Play) -> str:
        sides = state.board
        if not isinstance(sides, Sides):
            return super().observe(state)
        shown = self.show_sides(sides.board, sides.turn)
        if outcome(self.contest, sides) is not None:
            return f"{self._end(sides)}\n{shown}"
        return f"You are {self.names[sides.turn]}; it is your turn.\n{shown}"

    @override
    def transition(self, state: Play, action: str) -> Transition[Play]:
        sides = state.board
        if not isinstance(sides, Sides):
            return super().transition(state, action)
        text = action.strip()
        text = text if len(text) <= _LONGEST else ""
        after = Play(moved(self.contest, sides, text), (*state.moves, text))
        valid = after.board.forfeited is None
        if outcome(self.contest, after.board) is None:
            return Transition(state=after, valid=valid)
        return Transition(state=after, valid=valid, terminated=True, submission=list(after.moves))

    @override
    def propose(self, action: str) -> Move[Play]:
        """A reply that is too long, or not Unicode, forfeits like any other junk."""
        if (
            isinstance(action, str)
            and isinstance(self.state.board, Sides)
            and (len(self.action_in(action)) > self.max_action_chars or not _encodable(action))
        ):
            action = ""
        return super().propose(action)

    @override
    def submission(self, state: Play) -> JSON:
        return None if isinstance(state.board, Sides) else super().submission(state)

    @override
    def key(self, state: Play) -> JSON:
        sides = state.board
        if isinstance(sides, Sides):
            return [self.position_of_sides(sides.board), sides.turn, sides.forfeited]
        return super().key(state)

    @override
    def legal_actions(self, state: Play) -> list[str] | None:
        sides = state.board
        if isinstance(sides, Sides):
            return list(self.contest.moves(sides.board, sides.turn).values())
        return super().legal_actions(state)

    @override
    def solve(self, state: Play) -> str:
        """Return a good move for the side to move, if both sides are played."""
        sides = state.board
        if isinstance(sides, Sides):
            return self.strong(sides.board, sides.turn)
        return super().solve(state)

    @override
    def work(self, state: Play) -> int:
        return 1 if isinstance(state.board, Sides) else self.effort(state.board)

    def _end(self, sides: Sides) -> str:
        won = outcome(self.contest, sides)
        if won == 0.5:
            return "The game is over: a draw."
        winner = f"The game is over: {self.names[0 if won else 1]} has won"
        if sides.forfeited is None:
            return f"{winner}."
        return f"{winner}; {self.names[sides.forfeited]} made no legal move."

    def _info(self, valid: bool, verdict: Verdict | None) -> dict[str, Any]:
        info = super()._info(valid, verdict)
        if isinstance(self.state.board, Sides):
            won = outcome(self.contest, self.state.board)
            first = 0.0 if won is None else 2 * won - 1
            info["player"] = self.player
            info["rewards"] = (first, 0.0 - first)
        return info


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
