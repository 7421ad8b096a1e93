"""Adapter to Gymnasium's toy text; `verifiers/doors/described.py` shows how to add another
environment."""

from __future__ import annotations

from functools import cache
from typing import Any

from verigym.envs.doors.foreign import LUCK, REPEATED, ForeignGame, environment

_LAKE = {"easy": (4, 20), "medium": (6, 30), "hard": (9, 45)}
_CLIFF = {"easy": (2, 5), "medium": (6, 9), "hard": (10, 14)}
_TAXI = {"easy": (2, 8), "medium": (9, 13), "hard": (14, 18)}


@cache
def __getattr__(name: str) -> type[ForeignGame]:
    if name not in _GAMES:
        raise AttributeError(name)
    return environment("gymnasium", name, __name__, **_GAMES[name])


def _settings(game: str, levels: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "difficulties": tuple(levels),
        "settings": {level: {"game": game, **own} for level, own in levels.items()},
    }


_GAMES: dict[str, dict[str, Any]] = {
    "FrozenLake": _settings(
        "FrozenLake", {level: {"size": n, "turns": turns} for level, (n, turns) in _LAKE.items()}
    )
    | {"recoverable": False},
    "CliffWalking": _settings(
        "CliffWalking", {level: {"way": list(way), "turns": 30} for level, way in _CLIFF.items()}
    ),
    "Taxi": _settings(
        "Taxi", {level: {"way": list(way), "turns": 40} for level, way in _TAXI.items()}
    ),
    "Blackjack": _settings("Blackjack", {"standard": {"turns": 12}})
    | {
        "oracle_absent": "cards fall by chance, so no play wins every hand",
        "waived": LUCK | REPEATED | {"at_least_three_difficulties": "blackjack has one setting"},
    },
}
