"""Games of TextArena: single-player ones as they are, two-player ones against a random legal opponent.

TextArena's games draw from Python's global generator, at reset and in play, and seed it: they borrow
ours (`borrowed.py`), whose state is part of the state key.

A legal move of the opponent is found by trying moves of the game's form on a copy, in an order that the
seed and the position decide. A win, or all of a puzzle, scores 1; all else 0, TextArena's rewards for
part of the way included: an unchanged board earns such in several games.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from verigym.canonical import JSON, digest
from verigym.errors import TaskError
from verigym.verifiers.doors.arena_moves import MOVES
from verigym.verifiers.doors.borrowed import Generators, borrow, drawing_from
from verigym.verifiers.doors.game import library, seed_of

_LIMITLESS = 10**9
_MOVE = re.compile(r"\[[^\[\]]*\]")


class Arena:
    """A game of TextArena, played as player 0. See `Game`."""

    def __init__(self, reference: Mapping[str, Any]) -> None:
        arena = library("textarena", "textarena")
        self._id: str = reference["game"]
        if self._id not in arena.envs.registration.ENV_REGISTRY:
            raise TaskError(f"TextArena has no game {self._id!r}")
        self._seed: int = reference["seed"]
        self._players = 2 if reference.get("opponent") else 1
        self._moves = MOVES.get(self._id.partition("-")[0]) if self._players == 2 else None
        self._draws = Generators(self._seed)
        self.over = False
        self.score = 0.0
        library(
            arena.envs.registration.ENV_REGISTRY[self._id].entry_point.partition(":")[0],
            "textarena",
        )
        borrow("textarena")
        with drawing_from(self._draws):
            self._env = arena.make(f"{self._id}-raw")
            self._env.reset(num_players=self._players, seed=seed_of(self._seed))
        # How many turns there are is for us to say, so that a state does not depend on their number.
        if self._env.state.max_turns is not None:
            self._env.state.max_turns = _LIMITLESS
        prompts, boards = self._heard(("PROMPT",))
        self.prompt = "\n\n".join(prompts)
        self.view = ""
        self._opponent()
        self.view = "\n\n".join([*boards, *self._heard()[1]]) or "Your turn."

    def act(self, text: str) -> bool:
        """Play one action and the opponent's reply; return False if TextArena calls the action
        invalid.

        A second invalid move in a row ends most games. TextArena plays the first bracket that it
        finds, so a list of moves would count as its first move; it is rejected here instead.
        """
        if self.over or len(_MOVE.findall(text)) > 1:
            return False
        before = self._env.state.turn
        self._step(text)
        valid = bool(self._env.state.turn != before)
        self._opponent()
        self.view = "\n\n".join(self._heard(("PLAYER_ACTION",))[1]) or "Your turn."
        if self.over:
            rewards = self._env.state.rewards or {}
            self.score = float(rewards.get(0, 0) >= 1)
            self.view += f"\n\n{self._env.state.game_info[0].get('reason', '')}"
        return valid

    def key(self) -> JSON:
        """Return every field of the game and its state except logs and turn counts."""
        state = self._env.state
        fields = {k: v for k, v in vars(self._env).items() if k != "state"}
        told = {k: v for k, v in vars(state).items() if k not in _NO_STATE}
        return [
            digest(_plain(fields, 0), _plain(told, 0)),
            digest(_plain(self._draws.state(), 0)),
            digest(self.view),
        ]

    def legal(self) -> list[str] | None:
        """Return None: TextArena does not list legal moves."""
        return None

    def best(self) -> str | None:
        """Return None: TextArena has no solver."""
        return None

    def _step(self, text: str) -> None:
        with drawing_from(self._draws):
            self.over, _ = self._env.step(text)

    def _opponent(self) -> None:
        """Play the other side until it is the policy's turn."""
        while not self.over and self._env.state.current_player_id != 0:
            self._env.get_observation()
            self._step(self._reply())

    def _reply(self) -> str:
        assert self._moves is not None
        moves = list(self._moves(self._env))
        chance = random.Random(seed_of(self._seed, self.key()))
        chance.shuffle(moves)
        for move in moves:
            trial = copy.deepcopy(self._env)
            with drawing_from(Generators(0)):
                over, _ = trial.step(move)
            # A move that was taken counts a turn; an invalid one does not.
            if trial.state.turn != self._env.state.turn:
                return move
            if over:
                break
        return "[pass]"

    def _heard(self, apart: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
        """Take the messages sent to player 0 since the last call, in two lists: those of the kinds
        `apart`, and the others with only the last board."""
        told: list[tuple[int, str, Any]] = self._env.state.observations[0]
        self._env.state.observations[0] = []
        boards = [text for _, text, kind in told if _kind(kind) == "GAME_BOARD"]
        first = [text for _, text, kind in told if _kind(kind) in apart]
        rest = [text for _, text, kind in told if _kind(kind) not in (*apart, "GAME_BOARD")]
        return first, [*rest, *boards[-1:]]


def _kind(kind: Any) -> str:
    # Some games send text in place of the kind.
    return kind.name if isinstance(kind, Enum) else str(kind)


_NO_STATE = frozenset(
    ("logs", "observations", "game_info", "step_info", "turn", "rewards", "max_turns")
)
_DEEPEST = 12


def _plain(value: Any, depth: int) -> JSON:
    """Return `value` as plain data, by content rather than identity; objects by class and fields."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return repr(value)
    if depth > _DEEPEST or callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        return sorted(([_text(k), _plain(v, depth + 1)] for k, v in value.items()), key=repr)
    if isinstance(value, set | frozenset):
        return sorted((_plain(one, depth + 1) for one in value), key=repr)
    if isinstance(value, list | tuple):
        return [_plain(one, depth + 1) for one in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), depth + 1)
    if hasattr(value, "__dict__"):
        return [type(value).__qualname__, _plain(vars(value), depth + 1)]
    return repr(value) if "at 0x" not in repr(value) else type(value).__qualname__


def _text(key: Any) -> str:
    return key if isinstance(key, str) else repr(key)


def start(reference: Mapping[str, Any]) -> Arena:
    """Start the TextArena game that `reference` names."""
    return Arena(reference)
