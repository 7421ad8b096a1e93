"""Parts that `compose` of a stateful environment returns: wishes, goals of `tools/state`, steps of
a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from verigym.canonical import JSON
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.world import Tables

Goal = dict[str, JSON]
Place = TypeVar("Place")


@dataclass(frozen=True)
class WishStep:
    """One call on the way to the goals, and about how many operations finding it takes."""

    name: str
    arguments: dict[str, JSON]
    work: int = 2


@dataclass
class Wish:
    """One thing asked for: in words, as goals, and the calls that bring it about."""

    words: str
    goals: list[Goal]
    plan: list[WishStep]


@dataclass
class Story:
    """Result of `compose`. `hidden` are tables that no tool shows and nobody judges."""

    opening: str
    tables: Tables
    wishes: list[Wish]
    asked: str | None = None
    """Task in words, if it is not the list of wishes."""
    hidden: tuple[str, ...] = ()
    spare: int = 6
    """Turns beyond twice the work."""


def wished(
    draws: Draws, kinds: Sequence[Callable[[Place], Wish | None]], place: Place, count: int
) -> list[Wish]:
    """Draw `count` wishes for `place`, of as many kinds as possible; fewer if no kind fits any
    more."""
    order = draws.shuffled(kinds)
    wishes: list[Wish] = []
    for kind in [*order, *order, *order]:
        if len(wishes) < count and (wish := kind(place)) is not None:
            wishes.append(wish)
    return wishes


def changed(table: str, number: JSON, **to: JSON) -> Goal:
    """Return the goal that a row has these values."""
    return {"kind": "equal", "table": table, "where": {"id": number}, "set": to}


def gone(table: str, number: JSON) -> Goal:
    """Return the goal that a row no longer exists."""
    return {"kind": "absent", "table": table, "where": {"id": number}}


def added(table: str, **like: JSON) -> Goal:
    """Return the goal that such a row was added."""
    return {"kind": "present", "table": table, "where": like}
