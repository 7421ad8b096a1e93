"""`verigym replay`: play recorded episodes again and prove that the same happens."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console
from verigym.cli.progress import Bar
from verigym.errors import RequestError

if TYPE_CHECKING:
    from verigym.agents.replay import Replayed

_SHOWN = 20


def replay(
    episodes: Annotated[
        Path,
        typer.Argument(
            metavar="EPISODES", help="File of `verigym run --out`, or folder of `verigym eval`."
        ),
    ],
    timeout_s: Annotated[
        float,
        typer.Option(
            "--timeout", min=0.1, help="Time limit per verdict in seconds; a slower one is a fault."
        ),
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Play recorded actions in fresh environments; exit code 1 if anything differs from the record."""
    from verigym.agents.record import iterate_episodes
    from verigym.agents.replay import once_per_judge
    from verigym.agents.replay import replay as replayed
    from verigym.agents.scores import EPISODES
    from verigym.verifiers.pool import VerifierPool
    from verigym.verifiers.pooled import Pooled

    path = episodes / EPISODES if episodes.is_dir() else episodes
    n = sum(1 for _ in iterate_episodes(path))
    if not n:
        raise RequestError(f"{path} holds no episodes")
    found: list[Replayed] = []
    with VerifierPool(1, timeout_s=timeout_s) as pool, Bar(str(path), n) as bar:
        judge_for = once_per_judge(lambda own: Pooled(pool, own.id, own.params))
        for episode in iterate_episodes(path):
            found.append(replayed(episode, judge_for))
            bar.count()
    report = _report(path, found)
    if as_json:
        console.write_json(report)
    else:
        _show(report)
    if report["different"]:
        raise typer.Exit(console.DIFFERENT)
    if report["unplayable"]:
        raise typer.Exit(console.REQUEST)
    if report["fault"]:
        raise typer.Exit(console.MACHINE)


def _report(path: Path, found: list[Replayed]) -> dict[str, Any]:
    counts = Counter[str](one.outcome for one in found)
    outcomes = ("same", "different", "fault", "unplayable", "empty")
    return {
        "episodes": str(path),
        "n_episodes": len(found),
        "n_turns": sum(one.turns for one in found if one.outcome == "same"),
        **{outcome: counts[outcome] for outcome in outcomes},
        "listed": [one.to_builtins() for one in found if one.outcome not in ("same", "empty")],
        "sentences": [
            f"{one.episode}: {one.difference or one.detail}"
            for one in found
            if one.outcome not in ("same", "empty")
        ],
    }


def _show(report: dict[str, Any]) -> None:
    from rich.text import Text

    out = console.out()
    rest = [
        f"{report[key]} {words}"
        for key, words in (
            ("fault", "without a verdict this time"),
            ("unplayable", "cannot be played here"),
            ("empty", "faulted before their first turn"),
        )
        if report[key]
    ]
    line = (
        f"{report['n_episodes']} episodes: {report['same']} identical in all {report['n_turns']} turns "
        f"(observations, rewards, ends, verdicts), {report['different']} different"
    )
    out.print(Text(", ".join([line, *rest])), soft_wrap=True)
    for sentence in report["sentences"][:_SHOWN]:
        out.print(Text(sentence, style="yellow"), soft_wrap=True)
    if len(report["sentences"]) > _SHOWN:
        out.print(f"[dim]and {len(report['sentences']) - _SHOWN} more; --json lists them[/dim]")
