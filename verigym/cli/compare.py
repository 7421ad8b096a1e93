"""`verigym compare`: tell if one recorded evaluation is better than another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from verigym.cli import console


def compare(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="Folder of `verigym eval`, or a file of episodes.")
    ],
    b: Annotated[Path, typer.Argument(metavar="B", help="The same, to compare with A.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare two evaluations task by task, and say if the difference is real."""
    from verigym.agents.compare import compare as compared
    from verigym.agents.compare import sentence

    found = compared(a, b)
    found["sentence"] = sentence(found)
    if as_json:
        console.write_json(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console.out()
    for name in ("a", "b"):
        side = found[name]
        faults = f", {side['faults']} faults" if side["faults"] else ""
        line = (
            f"{name.upper()}  {side['policy']}, {side['samples']} episodes{faults}, {side['path']}"
        )
        out.print(Text(line), soft_wrap=True)
    if found["paired_tasks"]:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("", no_wrap=True)
        for title in ("tasks", "A", "B", "B - A (95 %)", "p"):
            table.add_column(title, justify="right", no_wrap=True)
        _add_row(table, "success", found["success"], "bold")
        _add_row(table, "mean score", found["score"])
        if len(found["by_environment"]) > 1:
            table.add_row(Text("success by environment", style="dim italic"))
            for name, group in found["by_environment"].items():
                _add_row(table, f"  {name.removeprefix('verigym/')}", group["success"])
        out.print(table)
    unpaired = [
        f"{found[key]} {words}"
        for key, words in (
            ("only_in_a", "scored only in A"),
            ("only_in_b", "scored only in B"),
            ("changed_tasks", "with other content under the same seed"),
        )
        if found[key]
    ]
    if unpaired:
        out.print(Text(f"tasks left out: {', '.join(unpaired)}", style="yellow"), soft_wrap=True)
    for line in found["other_verifiers"]:
        out.print(
            Text(f"judged by two verifiers, which may be the difference: {line}", style="yellow"),
            soft_wrap=True,
        )
    out.print(Text(found["sentence"], style="bold"), soft_wrap=True)


def _add_row(table: Any, name: str, found: dict[str, Any], style: str = "") -> None:
    from rich.text import Text

    low, high = found["interval"]
    cells = [
        str(found["tasks"]),
        f"{100 * found['a']:.1f} %",
        f"{100 * found['b']:.1f} %",
        f"{100 * found['value']:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})",
        f"{found['p']:.2g}",
    ]
    table.add_row(Text(name, style=style), *(Text(cell, style=style) for cell in cells))
