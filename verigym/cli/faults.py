"""Exit of a command whose episodes faulted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import typer

from verigym.cli import console
from verigym.missing import REASON

_LIMIT = 0.5


def stop_if_faulted(
    faults: int, episodes: int, by_cause: Mapping[str, int], details: Iterable[str]
) -> None:
    """Exit with code 3 if more than half of the episodes faulted, or if all did."""
    if faults < episodes and faults <= _LIMIT * episodes:
        return
    causes = ", ".join(f"{cause} ({n})" for cause, n in by_cause.items())
    console.complain(f"{faults} of {episodes} episodes faulted: {causes}")
    if missing := next((detail for detail in details if f", {REASON}: " in detail), ""):
        console.complain(missing.partition(f", {REASON}: ")[2])
    raise typer.Exit(console.MACHINE)
