"""`ForeignGame`: the base of environments that another library plays, and which laws they do not claim.

The library's game is a live object that is never copied: a state holds the actions that led to it and
what is seen there, and the environment keeps the game of its latest state. Where a step goes on from
another one (after `restore`, or after a fault), the actions are played again on a fresh game. So
snapshots are small values that pickle, and a step happens whole or not at all. Going back costs as many
steps as were played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Text
from typing_extensions import override

from verigym.canonical import JSON, digest
from verigym.env import CHARSET, Draft, Env, Transition
from verigym.errors import RequestError
from verigym.task import Task
from verigym.verifiers.doors.game import DoorGame, start

_ITS_OWN = (
    "the library says nothing of the work that a task takes; the settings are its own, in its order"
)
ORDER = {"difficulties_are_in_order": _ITS_OWN, "success_falls_with_the_level": _ITS_OWN}
_TOO_FEW = "the library has fewer than three settings"
ONE_SETTING = {
    "at_least_three_difficulties": _TOO_FEW,
    "difficulties_are_in_order": _TOO_FEW,
    "success_falls_with_the_level": _TOO_FEW,
}
LUCK = {
    "chance_earns_next_to_nothing": "random play wins its share of games against this opponent, or of "
    "luck"
}

REPEATED = {
    "cheap_answers_earn_no_more_than_guessing": "one move, repeated, wins its share of games against this "
    "opponent, or of luck"
}


class AnyText(Text):
    """Text of whatever characters: others' questions hold signs, emoji and boards that ASCII lacks."""

    def __init__(self, most: int) -> None:
        super().__init__(most, min_length=0, charset=CHARSET)

    def contains(self, x: object) -> bool:
        """Return True for any text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length


@dataclass(frozen=True)
class Position:
    """The state: the actions that led there (for the game, not for the key), and what is there."""

    moves: tuple[str, ...]
    view: str
    key: str
    legal: tuple[str, ...] | None


class ForeignGame(Env[Position]):
    """One game of an adapter. Subclasses set `door` and `settings`, the arguments of `start` by
    difficulty.

    An action that changes nothing is not recorded. The prompt is the library's own.
    """

    verifier_id: ClassVar[str] = "doors/replay"
    door: ClassVar[str]
    settings: ClassVar[Mapping[str, Mapping[str, JSON]]]
    only_named: ClassVar[bool] = True
    max_observation_chars: ClassVar[int] = 1 << 15

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.observation_space = AnyText(self.max_observation_chars)
        self._live: tuple[str, tuple[str, ...], DoorGame] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to copy or pickle, without the live game, which the copy replays."""
        return {**vars(self), "_live": None}

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        """The game is made to learn its prompt, and kept for the first turn."""
        reference = {
            "door": self.door,
            "seed": int(rng.integers(2**31)),
            **self.settings[self.written(level)],
        }
        game = start(reference)
        self._keep(reference, (), game)
        return Draft(prompt=game.prompt, reference=reference)

    @override
    def initial(self, task: Task) -> Position:
        return _position((), self._game(task, ()))

    @override
    def turns_allowed(self, task: Task) -> int:
        assert isinstance(task.reference, Mapping)
        return int(str(task.reference["turns"]))

    @override
    def observe(self, state: Position) -> str:
        return state.view

    @override
    def transition(self, state: Position, action: str) -> Transition[Position]:
        game = self._game(self.task, state.moves)
        self._live = None  # until the step is whole
        valid = game.act(action)
        if not valid and digest(game.key()) == state.key:
            self._keep(self.task.reference, state.moves, game)
            return Transition(state=state, valid=False)
        moved = _position((*state.moves, action), game)
        self._keep(self.task.reference, moved.moves, game)
        return Transition(
            state=moved,
            terminated=game.over,
            valid=valid,
            submission=list(moved.moves) if game.over else None,
        )

    @override
    def submission(self, state: Position) -> JSON:
        return list(state.moves)

    @override
    def key(self, state: Position) -> JSON:
        return state.key

    @override
    def legal_actions(self, state: Position) -> list[str] | None:
        return None if state.legal is None else list(state.legal)

    @override
    def solve(self, state: Position) -> str:
        best = self._game(self.task, state.moves).best()
        if best is None:
            raise RequestError("the goal cannot be reached from here, or nobody knows how")
        return best

    def _game(self, task: Task, moves: tuple[str, ...]) -> DoorGame:
        """The live game of this task after `moves`: the one that is kept, or one played again."""
        name = digest(task.reference)
        if self._live is not None and self._live[:2] == (name, moves):
            return self._live[2]
        game = start(task.reference)
        for move in moves:
            game.act(move)
        self._live = (name, moves, game)
        return game

    def _keep(self, reference: JSON, moves: tuple[str, ...], game: DoorGame) -> None:
        self._live = (digest(reference), moves, game)


def _position(moves: tuple[str, ...], game: DoorGame) -> Position:
    legal = game.legal()
    return Position(moves, game.view, digest(game.key()), None if legal is None else tuple(legal))


def environment(
    door: str, name: str, module: str, base: type[ForeignGame] = ForeignGame, **fields: Any
) -> type[ForeignGame]:
    """Return the class of one game, for the module's `__getattr__`, where Gymnasium finds it by its name."""
    about = f"{name}, played by {door}. See docs/envs-doors.md."
    own = {"__module__": module, "__doc__": about, "__qualname__": name}
    own |= {"id": f"verigym/{door}/{name}-v0", "door": door, **fields}
    return type(name, (base,), own)
