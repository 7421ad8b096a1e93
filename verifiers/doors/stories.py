"""Text adventures of TextWorld, built from the seed when they are first played, which takes 5 to
30 s.

A built game is kept in a folder of this process and deleted with it. The winning commands are
TextWorld's own, from the current position. Two states are equal if the same facts hold and the
last text is the same.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any

from verigym.canonical import JSON, digest
from verigym.errors import TaskError
from verigym.verifiers.doors.game import library

PROMPT = """\
Play this text adventure: read what is told, then write one command a turn, such as "go north", "look", \
"inventory", "open box" or "take coin". You have {turns} turns to do what the story asks for."""

# The module of each kind of game, and its function.
_MAKERS = {
    "treasure": "tw_treasure_hunter.treasure_hunter",
    "coins": "tw_coin_collector.coin_collector",
    "cooking": "tw_cooking.cooking",
}
# In what is told at the end: "You scored 1 out of a possible 1, in 4 turns."
_COUNT = re.compile(r", in \d+ turns?(?=[.,\n])")


class TextworldGame:
    """A game of TextWorld. See `Game`."""

    def __init__(self, reference: Mapping[str, Any]) -> None:
        world: Any = library("textworld", "textworld")
        # TextWorld silences this when it is imported; a caller's `catch_warnings` may have undone that.
        warnings.simplefilter("ignore", import_module("jericho").UnsupportedGameWarning)
        settings = tuple(sorted(reference["settings"].items()))
        path = _built(reference["game"], reference["seed"], settings)
        infos = world.EnvInfos(
            **dict.fromkeys(
                ("admissible_commands", "facts", "won", "lost", "policy_commands"), True
            )
        )
        self._env = world.start(path, infos)
        self._state = self._env.reset()
        self.prompt = PROMPT.format(turns=reference["turns"])
        self.over = False
        self.score = 0.0

    @property
    def view(self) -> str:
        """Last text of the game, without the banner, the status line and the turn count.

        Things in one place are listed by name, not by when they were put there, because facts have
        no order.
        """
        told = str(self._state.feedback)
        if "$$" in told:
            told = told[told.rindex("$$") :].partition("\n")[2]
        told = re.split(r"\n>\s", told)[0].partition("Would you like to RESTART")[0]
        names = frozenset(one.name for fact in self._state.facts for one in fact.arguments)
        told = _lists(names).sub(_by_name, _COUNT.sub("", told))
        return re.sub(r"\n{3,}", "\n\n", told).strip() or "Nothing happens."

    def act(self, text: str) -> bool:
        """Play a command that TextWorld admits here; return False for any other, which changes
        nothing."""
        known = {one.lower(): one for one in self._state.admissible_commands}
        command = known.get(" ".join(text.lower().split()))
        if self.over or command is None:
            return False
        self._state, _, done = self._env.step(command)
        self.over = bool(done or self._state.won or self._state.lost)
        self.score = float(bool(self._state.won))
        return True

    def key(self) -> JSON:
        """Return the sorted facts, a digest of the view, and whether the game is over."""
        return [sorted(map(str, self._state.facts)), digest(self.view), self.over]

    def legal(self) -> list[str] | None:
        """Return the admissible commands; empty if the game is over."""
        return [] if self.over else sorted(self._state.admissible_commands)

    def best(self) -> str | None:
        """Return the next command of TextWorld's own winning policy; None if it has none."""
        commands = self._state.policy_commands
        return str(commands[0]) if commands else None


@lru_cache(maxsize=64)
def _lists(names: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern that finds "a carrot, some raw rice and a knife" if these are `names` of a
    story."""
    known = "|".join(re.escape(one) for one in sorted(names, key=len, reverse=True))
    thing = rf"(?:an?|some) (?:[\w-]+ )*?(?:{known})"
    return re.compile(rf"\b{thing}(?:, {thing})* and {thing}\b")


def _by_name(found: re.Match[str]) -> str:
    *most, last = sorted(re.split(r", | and ", found[0]))
    return f"{', '.join(most)} and {last}"


@lru_cache(maxsize=1)
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="verigym-textworld-")


@lru_cache(maxsize=512)
def _built(kind: str, seed: int, settings: tuple[tuple[str, Any], ...]) -> str:
    """Return the path of the game, built if this process has not done so yet."""
    if kind not in _MAKERS:
        raise TaskError(f"no TextWorld game of kind {kind!r}; known: {', '.join(_MAKERS)}")
    world: Any = library("textworld", "textworld")
    maker = import_module(f"textworld.challenges.{_MAKERS[kind]}")
    options = world.GameOptions()
    options.seeds = seed
    # The story names the goal, and not each step of the way.
    options.grammar.only_last_action = True
    options.path = f"{_folder().name}/{digest(kind, seed, settings)[:24]}.z8"
    extra = {"recipe_seed": 1 + seed % 1000, "split": None} if kind == "cooking" else {}
    game = maker.make({**dict(settings), **extra}, options)
    return str(world.generator.compile_game(game, options))


def start(reference: Mapping[str, Any]) -> TextworldGame:
    """Start the TextWorld game that `reference` names."""
    return TextworldGame(reference)
