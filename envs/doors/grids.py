"""Adapter to MiniGrid: its rooms in words, the library's sizes as difficulties."""

from __future__ import annotations

from functools import cache

from verigym.envs.doors.foreign import ONE_SETTING, ORDER, ForeignGame, environment

# The library's variants from easy to hard, and the turns of each.
GAMES: dict[str, tuple[tuple[str, int], ...]] = {
    "DoorKey": (("5x5", 60), ("6x6", 90), ("8x8", 160)),
    "Dynamic-Obstacles": (("5x5", 40), ("6x6", 60), ("8x8", 100)),
    "Empty": (("5x5", 20), ("8x8", 40), ("16x16", 90)),
    "Fetch": (("5x5-N2", 40), ("6x6-N2", 60), ("8x8-N3", 90)),
    "GoToDoor": (("5x5", 40), ("6x6", 60), ("8x8", 90)),
    "KeyCorridor": (("S3R1", 80), ("S3R2", 120), ("S3R3", 200)),
    "LavaCrossing": (("S9N1", 60), ("S9N2", 70), ("S9N3", 80)),
    "LavaGap": (("S5", 30), ("S6", 40), ("S7", 50)),
    "Memory": (("S7", 60), ("S9", 80), ("S11", 100)),
    "MultiRoom": (("N2-S4", 60), ("N4-S5", 120), ("N6", 200)),
    "SimpleCrossing": (("S9N1", 60), ("S9N2", 70), ("S9N3", 80)),
}
# Where the library writes a variant without the dash that the others have.
_JOINED = ("LavaCrossing", "LavaGap", "KeyCorridor", "Memory", "SimpleCrossing")


@cache
def __getattr__(name: str) -> type[ForeignGame]:
    if name not in GAMES:
        raise AttributeError(name)
    joint = "" if name in _JOINED else "-"
    return environment(
        "minigrid",
        name,
        __name__,
        difficulties=tuple(variant for variant, _ in GAMES[name]),
        settings={
            variant: {"game": f"{name}{joint}{variant}", "turns": turns}
            for variant, turns in GAMES[name]
        },
        oracle_absent="MiniGrid has no solver for all of these rooms",
        recoverable=False,
        waived=ORDER if len(GAMES[name]) > 2 else ONE_SETTING,
    )
