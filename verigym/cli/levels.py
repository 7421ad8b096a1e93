"""`verigym levels`: the levels of an environment, with the operations that each takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from verigym.cli import console
from verigym.errors import RequestError

if TYPE_CHECKING:
    from verigym.envs.check.operations import Measured


def levels(
    env_id: Annotated[str, typer.Argument(metavar="ID", help="Environment id or short id.")],
    seeds: Annotated[
        int, typer.Option("--seeds", "-n", min=1, help="Number of tasks to play at each level.")
    ] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show operations and noisy success by level.

    Operations are the median along the oracle's play. The noisy policy plays as the oracle does, and gets
    each operation wrong with probability 1/1000.
    """
    from rich.progress import track

    from verigym.envs.check.operations import ERROR_RATE, measure
    from verigym.envs.check.subject import Subject
    from verigym.registry import resolve

    env = Subject(resolve(env_id)).quick()
    if env.oracle_absent:
        raise RequestError(f"{env.id} has no oracle to measure: {env.oracle_absent}")
    rows = [
        measure(env, name, range(seeds))
        for name in track(
            env.scale().levels,
            "playing",
            console=console.err(),
            transient=True,
            disable=as_json,
        )
    ]
    if as_json:
        found = [
            {
                "level": row.level,
                "name": row.name,
                "operations": row.operations,
                "noisy_success": row.noisy_success,
            }
            for row in rows
        ]
        console.write_json(
            {"id": env.id, "seeds": seeds, "error_rate": ERROR_RATE, "levels": found}
        )
    else:
        _show(env.id, seeds, rows)


def _show(env_id: str, seeds: int, rows: list[Measured]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"{env_id}: {seeds} tasks per level"), title_justify="left")
    table.add_column("level", justify="right")
    table.add_column("name")
    table.add_column("operations", justify="right")
    table.add_column("noisy success", justify="right")
    for row in rows:
        name = "" if row.name == str(row.level) else row.name
        table.add_row(str(row.level), name, f"{row.operations:,.0f}", f"{row.noisy_success:.3f}")
    console.out().print(table)
