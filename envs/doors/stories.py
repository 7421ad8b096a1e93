"""Adapter to TextWorld: text adventures built from the seed; a reset takes 5 to 30 s, a step 10
ms."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.env import Draft
from verigym.envs.doors.foreign import LUCK, ORDER, ForeignGame, environment
from verigym.verifiers.doors.stories import PROMPT

_COOKING = {"take": 1, "open": False, "cook": False, "cut": False, "drop": False, "go": 1}
_LEVELS: dict[str, dict[str, dict[str, JSON]]] = {
    "coins": {"easy": {"level": 3}, "medium": {"level": 106}, "hard": {"level": 210}},
    "treasure": {"easy": {"level": 3}, "medium": {"level": 13}, "hard": {"level": 23}},
    "cooking": {
        "easy": {"recipe": 1, **_COOKING},
        "medium": {"recipe": 2, **_COOKING, "take": 2, "open": True, "cook": True, "go": 6},
        "hard": {
            "recipe": 3,
            **_COOKING,
            "take": 3,
            "open": True,
            "cook": True,
            "cut": True,
            "go": 9,
        },
    },
}
_TURNS = {"easy": 30, "medium": 60, "hard": 100}


class StoryGame(ForeignGame):
    """A kind of story. A task is drawn without being built; its first reset builds it."""

    max_observation_chars: ClassVar[int] = 1 << 15

    @override
    def generate(self, rng: np.random.Generator, level: int) -> Draft:
        own = self.settings[self.written(level)]
        reference: JSON = {"door": self.door, "seed": int(rng.integers(2**31)), **own}
        return Draft(prompt=PROMPT.format(turns=own["turns"]), reference=reference)


@cache
def __getattr__(name: str) -> type[ForeignGame]:
    if name not in _LEVELS:
        raise AttributeError(name)
    return environment(
        "textworld",
        name,
        __name__,
        base=StoryGame,
        difficulties=tuple(_TURNS),
        settings={
            level: {"game": name, "settings": _LEVELS[name][level], "turns": turns}
            for level, turns in _TURNS.items()
        },
        recoverable=False,
        waived=LUCK | ORDER,
    )
