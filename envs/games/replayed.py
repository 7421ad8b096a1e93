"""`ReplayedGame`: the base class of games whose rules `games/replay` knows; the moves made are
judged.

The environment and the verifier use the same rules, so nothing that the environment shows or
forgets can change a score: the verifier replays the moves from the hidden start.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft, Env, Transition
from verigym.errors import RequestError
from verigym.reply import move as move_in
from verigym.task import Task
from verigym.verifiers.games.find_rules import find_rules, rules_of
from verigym.verifiers.games.rules import Rules

SOLVED, NOT_SOLVED = "The task is over: you solved it.", "The task is over: you did not solve it."


class Play(Struct, frozen=True):
    """The state: the game's own, and the moves that led there (for the verifier, not for the key)."""

    board: Any
    moves: tuple[str, ...] = ()


class ReplayedGame(Env[Play]):
    """Base class of replayed games: an author sets `game` and writes `draw`, `show`, `position`
    and `best`.

    An action that is not a move, or cannot be made now, changes nothing and is invalid. Reaching
    the goal ends the episode with reward 1, a lost position with reward 0.
    """

    verifier_id: ClassVar[str] = "games/replay"
    game: ClassVar[str]
    """Name of the rules, built in or published (`find_rules.py`)."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Return the prompt and the data that the rules start from; its `turns` is the turn limit.

        If the data has `essence`, that goes to the `Draft` and not to the rules.
        """

    @abstractmethod
    def show(self, board: Any) -> str:
        """Return the observation of a board."""

    @abstractmethod
    def position(self, board: Any) -> JSON:
        """Return the part of `board` that moves can change."""

    @abstractmethod
    def best(self, board: Any) -> str | None:
        """Return an optimal next move; None in a dead end."""

    def operations(self, board: Any) -> int:
        """Return the operations of a solver that counts them, from `board` to the goal.

        The player keeps the way that was found: later turns take one operation, to read the next move.
        A game in which each turn is thought out anew overrides `work`.
        """
        return 1

    def moves(self, board: Any) -> list[str] | None:
        """Return the moves that can be made; None if they cannot be listed."""
        return None

    def lost(self, board: Any) -> bool:
        """Return True if the game is over without the goal."""
        return False

    @property
    def rules(self) -> Rules:
        """Rules that the verifier replays by."""
        return find_rules(self.game)

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        prompt, reference = self.draw(rng, level)
        essence = reference.pop("essence", None)
        return Draft(prompt=prompt, reference={"game": self.game, **reference}, essence=essence)

    @override
    def initial(self, task: Task) -> Play:
        rules, reference = rules_of(task)
        return Play(rules.start(reference))

    @override
    def turns_allowed(self, task: Task) -> int:
        return int(task.reference["turns"])  # type: ignore[index,call-overload]

    @override
    def observe(self, state: Play) -> str:
        """Return what `show` does and, at the end, how the game ended."""
        shown = self.show(state.board)
        if self.rules.won(state.board):
            return f"{shown}\n{SOLVED}".lstrip("\n")
        return f"{shown}\n{NOT_SOLVED}".lstrip("\n") if self.lost(state.board) else shown

    @override
    def transition(self, state: Play, action: str) -> Transition[Play]:
        text, board, rules = action.strip(), state.board, self.rules
        move = rules.read(text)
        if move is None:
            text = move_in(text)
            move = rules.read(text)
        if move is None or self.lost(board) or not rules.legal(board, move):
            return Transition(state=state, valid=False)
        after = rules.apply(board, move)
        moves = (*state.moves, text)
        if rules.won(after) or self.lost(after):
            return Transition(state=Play(after, moves), terminated=True, submission=list(moves))
        return Transition(state=Play(after, moves), valid=after != board)

    @override
    def submission(self, state: Play) -> JSON:
        return list(state.moves)

    @override
    def key(self, state: Play) -> JSON:
        return self.position(state.board)

    @override
    def legal_actions(self, state: Play) -> list[str] | None:
        return None if self.lost(state.board) else self.moves(state.board)

    @override
    def work(self, state: Play) -> int:
        return 1 if state.moves else self.operations(state.board)

    @override
    def solve(self, state: Play) -> str:
        move = self.best(state.board)
        if move is None:
            raise RequestError("the goal cannot be reached from here")
        return move
