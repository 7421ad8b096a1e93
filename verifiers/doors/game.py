"""Live games of other libraries behind one protocol, `DoorGame`, and the function that starts them.

A reference is plain data: `{"door": "openspiel", "game": "hex", "seed": 7, "turns": 60, ...}`.
`start` makes the game that it names; the same reference and moves lead to the same game on any
machine with the same version of the library. Games are never copied or pickled: to go back, the
moves are played again.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from verigym.canonical import JSON, digest
from verigym.errors import MissingError, TaskError, suggestion
from verigym.missing import command

STARTS = {
    "gymnasium": "verigym.verifiers.doors.described",
    "minigrid": "verigym.verifiers.doors.grids",
    "openspiel": "verigym.verifiers.doors.spiel",
    "textarena": "verigym.verifiers.doors.arena",
    "textworld": "verigym.verifiers.doors.stories",
}
"""Module of each adapter; its `start(reference)` returns a `DoorGame`."""


class DoorGame(Protocol):
    """One game in play. It is the policy's turn, or the game is over."""

    prompt: str
    """Prompt: the task and the form of an action; the same from the first turn to the last."""
    view: str
    """Observation that the policy sees now."""
    over: bool
    score: float
    """Score in [0, 1]; before the game is over, the score for giving up now."""

    def act(self, text: str) -> bool:
        """Play one action and the opponent's reply. Return False if it was not an action or
        changed nothing."""

    def key(self) -> JSON:
        """Return everything that decides the future of the game, view included, as plain data."""

    def legal(self) -> list[str] | None:
        """Return the actions that can be played now; None if they cannot be listed."""

    def best(self) -> str | None:
        """Return an optimal next action; None if it is unknown."""


def start(reference: JSON) -> DoorGame:
    """Start the game that `reference` names. Raises TaskError if it names none, RequestError if
    the library is not installed."""
    if not isinstance(reference, Mapping):
        raise TaskError('the reference must be {"door": name, "game": name, "seed": n, "turns": n}')
    door = reference.get("door")
    if not isinstance(door, str) or door not in STARTS:
        raise TaskError(f"no door {door!r}; {suggestion(str(door), STARTS)}")
    for name in ("seed", "turns"):
        if type(reference.get(name)) is not int:
            raise TaskError(f"{name} must be a whole number, got {reference.get(name)!r}")
    game: DoorGame = import_module(STARTS[door]).start(reference)
    return game


def library(name: str, extra: str) -> ModuleType:
    """Return the module `name`. Raises RequestError with the package to install if it is missing."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name.partition(".")[0]:
            raise
        raise MissingError(
            f"this environment is played by {name}, which is not installed; {command(extra)}"
        ) from error


def seed_of(*values: Any) -> int:
    """Return a seed of 31 bits from plain values; equal values give equal seeds on every machine."""
    return int(digest(*values)[:8], 16) >> 1
