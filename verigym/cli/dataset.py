"""`verigym dataset`: report which rows of a dataset are used and whether its own answers are accepted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console
from verigym.errors import ConfigError

if TYPE_CHECKING:
    from verigym.envs.dataset.env import Dataset, PlayedRow

_SHOWN = 5
_BATCH = 64


def dataset(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="TOML file that describes the dataset.")
    ],
    judge: Annotated[
        bool, typer.Option(help="Judge each row's own answer with the verifier.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Load a dataset as an environment: count rows, drop duplicates, judge its own answers.

    Exit code 4 if the verifier rejects a row's own answer.
    """
    from verigym.envs.dataset import load
    from verigym.registry import resolve

    path = resolve(str(file))
    if not path.endswith(".toml"):
        raise ConfigError(f"{file} does not describe a dataset; give the TOML file that does")
    env = load(path)
    rows = env.rows()
    kept = [row for some in rows.kept.values() for row in some]
    refused = _refused(env, kept, quiet=as_json) if judge and env.described.oracle else None
    counts: dict[str, dict[str, int]] = {}
    for (split, difficulty), some in rows.kept.items():
        counts.setdefault(split, {})[difficulty] = len(some)
    found: dict[str, Any] = {
        "id": env.id,
        "rows": len(kept) + sum(rows.dropped.values()),
        "kept": counts,
        "dropped": dict(rows.dropped),
        "refused": refused,
    }
    if as_json:
        console.write_json(found)
    else:
        _show(env, found, dict(rows.examples))
    if refused:
        raise typer.Exit(console.BELOW)


def _refused(env: type[Dataset], kept: list[PlayedRow], *, quiet: bool) -> list[dict[str, Any]]:
    """Return the rows whose own answer does not earn full marks, with the reason."""
    from rich.progress import track

    from verigym.task import Task

    one = env()
    found = []
    batches = [kept[i : i + _BATCH] for i in range(0, len(kept), _BATCH)]
    for batch in track(batches, "judging", console=console.err(), transient=True, disable=quiet):
        items = [
            (
                Task(
                    id=row.place,
                    env_id=env.id,
                    seed=0,
                    prompt=row.draft.prompt,
                    difficulty=row.difficulty,
                    reference=row.draft.reference,
                ),
                one.reply(row.draft.reference),
            )
            for row in batch
        ]
        for row, verdict in zip(batch, one.verifier.verify_batch(items), strict=True):
            if verdict.score != 1.0:
                why = f"{verdict.status.value}, {verdict.reason}: {verdict.evidence}"
                found.append({"place": row.place, "score": verdict.score, "why": why})
    return found


def _show(env: type[Dataset], found: dict[str, Any], examples: dict[str, str]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(f"{env.id}: {found['rows']} rows"), title_justify="left")
    table.add_column("split")
    for difficulty in env.difficulties:
        table.add_column(difficulty, justify="right")
    for split, counts in found["kept"].items():
        table.add_row(split, *(str(counts.get(name, 0)) for name in env.difficulties))
    out = console.out()
    out.print(table)
    for why, number in found["dropped"].items():
        out.print(Text(f"dropped {number}: {why}, such as {examples[why]}"), soft_wrap=True)
    refused = found["refused"]
    if refused is None:
        return
    if not refused:
        out.print(Text("the verifier accepts every row's own answer", style="green"))
        return
    out.print(Text(f"the verifier does not accept the own answer of {len(refused)} rows:", "red"))
    for one in refused[:_SHOWN]:
        out.print(Text(f"  {one['place']}: {one['why']}"), soft_wrap=True)
    if len(refused) > _SHOWN:
        out.print(Text(f"  and {len(refused) - _SHOWN} more; --json lists them", style="dim"))
