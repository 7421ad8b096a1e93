"""Sites of this package, which have tasks and a way to solve them in addition to pages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from verigym.canonical import JSON
from verigym.envs.search.draws import BlockDraws
from verigym.envs.web.browsing import BrowserState, Row, Tables
from verigym.envs.web.pages import WebPage


@dataclass(frozen=True)
class Chore:
    """A task: in words, the tables it starts from, goals of `tools/state`, and the facts for `aim`."""

    words: str
    tables: Tables
    goals: list[JSON]
    facts: dict[str, Any]
    turns: int
    kept: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Aim:
    """Values to enter on a page, by name of the control, and the button to press then."""

    fields: Mapping[str, str]
    button: str


class ChoreSite(ABC):
    """A site (see `browsing.Site`) that poses chores over itself; pure functions all."""

    name: ClassVar[str]
    sizes: ClassVar[Mapping[int, int]]
    """Sizes of its chores by level; a level that is missing here has none."""
    counts: ClassVar[Mapping[int, int]] = {}
    """Number of chores in a task at the levels that have more than one."""

    @abstractmethod
    def show(self, place: BrowserState) -> WebPage:
        """Return the page that is shown."""

    @abstractmethod
    def submit(self, place: BrowserState, button: str, fields: Mapping[str, str]) -> BrowserState:
        """Return the place that a button of the page leads to, given the fields of the form."""

    @abstractmethod
    def pose(self, draws: BlockDraws, size: int) -> Chore:
        """Draw a chore."""

    @abstractmethod
    def aim(self, place: BrowserState, facts: Mapping[str, Any]) -> Aim | None:
        """Return the next step for a chore with these facts; None if its goals are met."""


def together(chores: Sequence[Chore]) -> Chore:
    """Return several chores on the tables of the first as one; each only adds rows. One stays as it is."""
    if len(chores) == 1:
        return chores[0]
    words = "\n".join(f"{n}. {chore.words}" for n, chore in enumerate(chores, 1))
    return Chore(
        words=f"Do all of these:\n{words}",
        tables=chores[0].tables,
        goals=[goal for chore in chores for goal in chore.goals],
        facts={"each": [chore.facts for chore in chores]},
        turns=sum(chore.turns for chore in chores),
        kept=chores[0].kept,
    )


def facts_of(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the facts of each chore of a task."""
    return list(facts["each"]) if "each" in facts else [dict(facts)]


def added(tables: Tables, table: str, row: Row) -> Tables:
    """Return the tables with a row more, which gets the next id."""
    rows = tables[table]
    new = {"id": max((one["id"] for one in rows), default=0) + 1, **row}
    return {**tables, table: (*rows, new)}


def has(tables: Tables, table: str, row: Row) -> bool:
    """Return True if a row like this is there."""
    return any(all(one[k] == v for k, v in row.items()) for one in tables[table])
