"""Rules of games by name: the built-in ones, and those that installed packages publish.

    [project.entry-points."verigym.games"]
    "examples/jugs" = "your_package.jugs:Jugs"

The target is a class without arguments, or a value, that has the methods of `Rules`. Its name must not be
that of built-in rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from verigym.canonical import JSON
from verigym.errors import TaskError, suggestion
from verigym.task import Task
from verigym.verifiers.games.rules import RULES, Rules

GROUP = "verigym.games"
_METHODS = ("start", "read", "legal", "apply", "won")


def find_rules(game: str) -> Rules:
    """Return the rules of `game`. Raises TaskError if no game has that name, or its rules cannot be loaded."""
    found = RULES.get(game)
    return _published_rules(game) if found is None else found


def rules_of(task: Task) -> tuple[Rules, Mapping[str, JSON]]:
    """Return the rules that the reference of `task` names, and the reference. Raises TaskError if it names
    none."""
    reference = task.reference
    if not isinstance(reference, dict):
        raise TaskError('the reference must be {"game": name, ...}')
    game = reference.get("game")
    if not isinstance(game, str):
        raise TaskError(f"no game {game!r}; {suggestion(str(game), _known())}")
    return find_rules(game), reference


@cache
def _published() -> dict[str, EntryPoint]:
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        other = points.setdefault(point.name, point)
        if point.name in RULES:
            raise TaskError(
                f"{point.value} registers {point.name!r} in {GROUP}, which is the name of a built-in "
                "game; rename it"
            )
        if other.value != point.value:
            raise TaskError(
                f"two packages register {point.name!r} in {GROUP}: {other.value} and {point.value}; "
                "uninstall one"
            )
    return points


@cache
def _published_rules(game: str) -> Rules:
    point = _published().get(game)
    if point is None:
        raise TaskError(f"no game {game!r}; {suggestion(game, _known())}")
    try:
        made = point.load()
        rules = made() if isinstance(made, type) else made
    except Exception as error:
        raise TaskError(
            f"the rules of {game!r} cannot be loaded from {point.value}: {type(error).__name__}: {error}"
        ) from error
    missing = [name for name in _METHODS if not callable(getattr(rules, name, None))]
    if missing:
        raise TaskError(f"the rules of {game!r}, {point.value}, lack {', '.join(missing)}")
    found: Rules = rules
    return found


def _known() -> list[str]:
    return sorted({*RULES, *_published()})
