"""The goals of a plan, the work of deciding a case, and whether the gate of a desk is closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from verigym.canonical import JSON
from verigym.envs.tools.cases.desk_tools import HIDDEN
from verigym.envs.tools.cases.rulebook import Amendment, Article, decide, in_force
from verigym.envs.tools.wishes import Goal, added, changed, gone
from verigym.envs.tools.world import Row, Tables, World

_IDLE = ("next_day", "wait", "finish")
"""Calls that the gate lets pass."""


def goals_between(world: World, before: Tables, after: Tables) -> list[Goal]:
    """Return goals that `after` meets and that pay for every difference between the two states."""
    goals: list[Goal] = []
    for (name, columns), olds, news in zip(world.tables.items(), before, after, strict=True):
        if name in HIDDEN or olds == news:
            continue
        was, now = {row[0]: row for row in olds}, {row[0]: row for row in news}
        fresh: dict[Row, int] = {}
        for number, row in now.items():
            if number not in was:
                fresh[row[1:]] = fresh.get(row[1:], 0) + 1
            elif row != was[number]:
                pairs = zip(columns, row, was[number], strict=True)
                goals.append(changed(name, number, **{c: v for c, v, old in pairs if v != old}))
        goals += [gone(name, number) for number in was if number not in now]
        for values, count in fresh.items():
            goals.append(
                added(name, **dict(zip(columns[1:], values, strict=True))) | {"rows": count}
            )
    return goals


def is_blocked(world: World, tables: Tables, name: str) -> bool:
    """Return True if a call has to wait at the gate of a desk."""
    if "gate" not in world.tables or name in _IDLE:
        return False
    gate = dict(zip(world.tables, tables, strict=True))["gate"]
    return gate[0][1] == 0


def weigh(notes: Mapping[str, Any], tables: Mapping[str, tuple[Row, ...]], case: JSON) -> int:
    """Count what deciding a case takes: standings, messages and earlier decisions looked through, conditions
    compared; with the first case of a day, the search for the cases that its budget pays for."""
    facts = dict(notes["facts"][str(case)])
    articles = msgspec.convert(notes["articles"], list[Article])
    amendments = msgspec.convert(notes["amendments"], list[Amendment])
    operations = 0
    for name in ("register", "archive", "messages", "decisions"):
        for _ in tables[name]:
            operations += 1
    for _ in range(notes.get("searched", {}).get(str(case), 0)):
        operations += 1
    day = facts.pop("day")
    return operations + decide(in_force(articles, amendments, str(day)), facts)[1]
