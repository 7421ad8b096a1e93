"""Two-player games of perfect information from OpenSpiel, against a seeded opponent.

The opponent plays at random, or by Monte-Carlo tree search with a number of simulations. Its reply and
the dice are functions of the task's seed, the position and how often dice fell before, so that a state
has one future. The policy moves first or second, as the seed says. A win scores 1, all else 0.

Two positions are one where OpenSpiel writes them alike; of earlier positions (repetition in chess, ko
in go) it writes nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

from verigym.canonical import JSON
from verigym.doors import DOORS
from verigym.errors import TaskError
from verigym.verifiers.doors.game import library, seed_of

_PROMPT = """\
You play {name} as player {seat} (of 0 and 1; player 0 moves first) and have at most {turns} moves of \
your own. Win. Answer with one of the legal moves listed, written as it stands there."""


_NAMES = next(door.games for door in DOORS if door.name == "openspiel")
_GAME = re.compile(rf"(?:{'|'.join(_NAMES)})(?:\([a-z_]+=[a-z0-9]+(?:,[a-z_]+=[a-z0-9]+)*\))?")


class SpielGame:
    """A game of OpenSpiel. See `Game`."""

    def __init__(self, reference: Mapping[str, Any]) -> None:
        self._spiel: Any = library("pyspiel", "openspiel")
        if not _GAME.fullmatch(str(reference["game"])):
            # OpenSpiel has games that read a file of any name.
            raise TaskError(f"OpenSpiel has no game {reference['game']!r} that is open here")
        try:
            self._game = self._spiel.load_game(reference["game"])
        except self._spiel.SpielError as error:
            raise TaskError(f"OpenSpiel has no game {reference['game']!r}") from error
        self._seed: int = reference["seed"]
        self._simulations: int = reference["simulations"]
        self._seat = self._seed % 2
        self._state = self._game.new_initial_state()
        self._fallen = 0
        self._reply()
        self.prompt = _PROMPT.format(
            name=self._game.get_type().long_name, seat=self._seat, turns=reference["turns"]
        )

    @property
    def over(self) -> bool:
        """True if the position is terminal."""
        return bool(self._state.is_terminal())

    @property
    def score(self) -> float:
        """1 for a win, else 0."""
        return float(self.over and self._state.returns()[self._seat] > 0)

    @property
    def view(self) -> str:
        """Position as OpenSpiel prints it, and the legal moves."""
        if self.over:
            return f"{self._board()}\nThe game is over."
        return f"{self._board()}\nLegal moves: {', '.join(self.legal())}"

    def act(self, text: str) -> bool:
        """Play a legal move and the opponent's reply; return False for any other text."""
        wanted = text.strip()
        for action in [] if self.over else self._state.legal_actions():
            if self._written(action) == wanted:
                self._state.apply_action(action)
                self._reply()
                return True
        return False

    def key(self) -> JSON:
        """Return the position and the number of chance events so far."""
        return [str(self._state), self._fallen]

    def legal(self) -> list[str]:
        """Return the legal moves; empty if the game is over."""
        return [] if self.over else [self._written(a) for a in self._state.legal_actions()]

    def best(self) -> str | None:
        """Return None: there is no solver."""
        return None

    def _board(self) -> str:
        return str(self._state).strip("\n")

    def _written(self, action: int) -> str:
        # Numbers of backgammon moves and line ends are for the library.
        return " ".join(str(self._state.action_to_string(self._seat, action)).split()).rstrip(";")

    def _reply(self) -> None:
        """Resolve chance events and the opponent's moves until it is the policy's turn."""
        while not self.over and self._state.current_player() != self._seat:
            seed = seed_of(self._seed, str(self._state), self._fallen)
            if self._state.is_chance_node():
                actions, chances = zip(*self._state.chance_outcomes(), strict=True)
                (action,) = random.Random(seed).choices(actions, chances)
                self._fallen += 1
            elif self._simulations:
                evaluator = self._spiel.RandomRolloutEvaluator(1, seed)
                # uct_c 2, 10 MB of tree, solving where the tree is small.
                bot = self._spiel.MCTSBot(
                    self._game, evaluator, 2.0, self._simulations, 10, True, seed, False
                )
                action = bot.step(self._state)
            else:
                action = random.Random(seed).choice(self._state.legal_actions())
            self._state.apply_action(action)


def start(reference: Mapping[str, Any]) -> SpielGame:
    """Start the OpenSpiel game that `reference` names."""
    return SpielGame(reference)
