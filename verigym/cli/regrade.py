"""`verigym regrade`: grade a stored run again and list every verdict that flips."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console
from verigym.cli.audit import read_params
from verigym.cli.progress import Bar
from verigym.errors import RequestError, TaskError

if TYPE_CHECKING:
    from verigym.agents.regrade import Regrader
    from verigym.episode import Episode
    from verigym.judge import Judge
    from verigym.verifiers.pool import VerifierPool

_SHOWN = 40


def regrade(
    episodes: Annotated[
        Path,
        typer.Argument(
            metavar="EPISODES.jsonl",
            help="File of `verigym run --out`, or folder of `verigym eval`.",
        ),
    ],
    verifier: Annotated[
        str | None,
        typer.Option(
            "--verifier",
            metavar="ID|URL",
            help="Verifier id or service URL to judge with. Default: each environment's own verifier.",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="NAME=VALUE", help="Verifier parameter; VALUE is JSON; repeatable."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write the verdicts to; an existing one is resumed."
        ),
    ] = None,
    fail_on_flip: Annotated[
        bool, typer.Option("--fail-on-flip", help="Exit with code 4 if any verdict flips.")
    ] = False,
    timeout_s: Annotated[
        float,
        typer.Option(
            "--timeout", min=0.1, help="Time limit per verdict in seconds; a slower one is a fault."
        ),
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Replay stored episodes, judge them with another verifier or parameters, and list the flips."""
    from verigym.agents.record import read_episodes
    from verigym.agents.regrade import Regrader
    from verigym.agents.replay import once_per_judge
    from verigym.agents.scores import EPISODES
    from verigym.verifiers.pool import VerifierPool

    stored = read_episodes(episodes / EPISODES if episodes.is_dir() else episodes)
    params = read_params(param or [])
    head = {"episodes": str(episodes), "verifier": verifier, "params": params}
    rows = _done(out, head) if out is not None else {}
    with VerifierPool(1, timeout_s=timeout_s) as pool, Bar(str(episodes), len(stored)) as bar:
        regrader = Regrader(once_per_judge(_judge_for(pool, verifier, params, timeout_s)))
        for place, episode in enumerate(stored):
            if place not in rows:
                rows[place] = _row(regrader, place, episode)
                if out is not None:
                    _append(out, rows[place])
            bar.count()
    report = {**head, **_summary([rows[place] for place in range(len(stored))])}
    if as_json:
        console.write_json(report)
    else:
        _show(report)
    if fail_on_flip and report["flips"]:
        raise typer.Exit(console.BELOW)


def _judge_for(
    pool: VerifierPool, verifier: str | None, params: dict[str, Any], timeout_s: float
) -> Callable[[Judge], Judge]:
    """Return a function from an environment's own judge to the one to ask instead.

    The environment's parameters stay, unless `params` sets them or the verifier is another one.
    """
    from verigym.client import RemoteVerifier
    from verigym.verifiers.audit.cases import resolve_verifier
    from verigym.verifiers.pooled import Pooled

    if verifier is not None and "://" in verifier:
        return lambda own: RemoteVerifier(
            verifier, own.id, params={**own.params, **params}, timeout_s=timeout_s
        )
    if verifier is not None:
        chosen = resolve_verifier(verifier)
        return lambda own: Pooled(pool, chosen, params)
    return lambda own: Pooled(pool, own.id, {**own.params, **params})


def _row(regrader: Regrader, place: int, episode: Episode) -> dict[str, Any]:
    """Return the record of one regraded episode; several runs in one file may share ids."""
    named = {"place": place, "episode": episode.id}
    try:
        verdicts = regrader.regrade(episode)
    except TaskError as error:
        return {**named, "verdicts": [], "unplayable": str(error)}
    return {**named, "verdicts": [one.to_builtins() for one in verdicts]}


def _done(out: Path, head: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the records of an earlier run by place. Raises RequestError if its settings differ.

    A torn last line and records with a fault are left out, so that they are graded again.
    """
    if not out.exists() or not out.stat().st_size:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(head, sort_keys=True) + "\n", encoding="utf-8")
        return {}
    first, *lines = out.read_text(encoding="utf-8").split("\n")
    try:
        same = json.loads(first) == head
    except ValueError:
        same = False
    if not same:
        raise RequestError(
            f"{out} belongs to a regrading with other settings; choose another --out"
        )
    lines.pop()  # nothing, or torn
    rows = {row["place"]: row for row in map(json.loads, lines)}
    kept = {
        place: row
        for place, row in rows.items()
        if all(one["outcome"] != "fault" for one in row["verdicts"])
    }
    text = "".join(json.dumps(row, sort_keys=True) + "\n" for row in [head, *kept.values()])
    fresh = out.with_name(out.name + ".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(out)
    return kept


def _append(out: Path, row: dict[str, Any]) -> None:
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, sort_keys=True) + "\n")


def _summary(kept: list[dict[str, Any]]) -> dict[str, Any]:
    verdicts = [one for row in kept for one in row["verdicts"]]
    flips = [one for one in verdicts if one["outcome"] == "flip"]
    faults = [one for one in verdicts if one["outcome"] == "fault"]
    return {
        "n_episodes": len(kept),
        "n_verdicts": len(verdicts),
        "same": sum(one["outcome"] == "same" for one in verdicts),
        "flips": len(flips),
        "up": sum(one["new"]["score"] > one["old"]["score"] for one in flips),
        "down": sum(one["new"]["score"] < one["old"]["score"] for one in flips),
        "faults": len(faults),
        "unplayable": {row["episode"]: row["unplayable"] for row in kept if row.get("unplayable")},
        "without_verdict": sum(not row["verdicts"] and not row.get("unplayable") for row in kept),
        "flipped": flips,
        "faulted": faults,
    }


def _show(report: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console.out()
    out.print(
        f"{report['n_verdicts']} verdicts in {report['n_episodes']} episodes: {report['same']} the "
        f"same, [bold]{report['flips']} flipped[/bold] ({report['up']} up, {report['down']} down), "
        f"{report['faults']} faults"
    )
    unplayable = report["unplayable"]
    for name, why in list(unplayable.items())[:_SHOWN]:
        out.print(Text(f"{name} cannot be played again: {why}", style="yellow"), soft_wrap=True)
    listed = [*report["flipped"], *report["faulted"]]
    if not listed:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("episode", "turn", "was", "is", "why"):
        table.add_column(title, no_wrap=True)
    for one in listed[:_SHOWN]:
        old, new = one["old"], one["new"]
        table.add_row(
            Text(one["episode"]),
            str(one["turn"]),
            Text(f"{old['score']:g} {old['reason']}"),
            Text(
                f"{new['score']:g} {new['reason']}" if new["score"] is not None else new["status"]
            ),
            Text(new["evidence"][:120]),
        )
    out.print(table)
    if len(listed) > _SHOWN:
        out.print(f"[dim]and {len(listed) - _SHOWN} more; --json lists them[/dim]")
