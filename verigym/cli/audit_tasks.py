"""`verigym audit --tasks`: play cheats on the tasks of environments and show which are paid."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from verigym.choosing import choose_envs
from verigym.cli import console
from verigym.cli.progress import Bar
from verigym.errors import RequestError, VerigymError

if TYPE_CHECKING:
    from verigym.envs.audit.sources import AuditSource
    from verigym.verifiers.pool import VerifierPool

_SHOWN = 8


def audit_sources(
    names: list[str],
    *,
    verifier: str | None,
    count: int,
    seed: int,
    guess: float | None,
    planted: str | None,
    workers: int,
    timeout_s: float,
    fail_above: float | None,
    as_json: bool,
) -> None:
    """Audit every source and print the reports; exit code 4 or 3 as docs/audit.md says."""
    from verigym.envs.audit.sources import described_rows, find_sources
    from verigym.verifiers.pool import VerifierPool

    reports = []
    with ExitStack() as stack:
        pool = stack.enter_context(VerifierPool(workers, timeout_s=timeout_s))
        for name in names:
            if name.endswith(".jsonl"):
                if verifier is None:
                    raise RequestError(
                        f"{name} does not say who judges; name the verifier: verigym audit VERIFIER --tasks {name}"
                    )
                name = stack.enter_context(described_rows(Path(name), verifier))
            for source in find_sources(name, choose_envs, timeout_s, planted):
                reports.append(_audit(source, pool, count, seed, guess))
                if not as_json:
                    _show(reports[-1])
    whole = _whole(reports)
    if as_json:
        console.write_json(whole)
    elif len(reports) > 1:
        _show_whole(whole)
    if fail_above is not None:
        _check(whole, fail_above)


def _audit(
    source: AuditSource, pool: VerifierPool, count: int, seed: int, guess: float | None
) -> dict[str, Any]:
    from verigym.envs.audit import audit_tasks
    from verigym.envs.audit.sources import judge_in

    try:
        with source.make() as env:
            judge_in(pool, env)
            if guess is None and not source.declares_chance:
                guess = env.chance
            tasks = max(2, count // 6) if env.costly and source.tasks is None else count
            tasks = min(tasks, source.tasks or tasks)
            with Bar(source.name, tasks) as bar:
                report = audit_tasks(
                    env, tasks=tasks, seed=seed, guess=guess, on_task=lambda: bar.count()
                )
    except RequestError:
        raise
    except VerigymError as error:
        return {"source": source.name, "not_audited": str(error)}
    return {"source": source.name, **report}


def _whole(reports: list[dict[str, Any]]) -> dict[str, Any]:
    from verigym.verifiers.audit.intervals import interval, rate

    played = [one for one in reports if "tasks" in one]
    tasks = sum(one["tasks"] for one in played)
    hacked = sum(round(one["hack_rate"] * one["tasks"]) for one in played)
    return {
        "sources": reports,
        "tasks": tasks,
        "hack_rate": rate(hacked, tasks),
        "hack_interval": interval(hacked, tasks),
        "cheated": [one["source"] for one in played if one["paid"]],
        "without_a_score": [one["source"] for one in played if one["faults"]],
        "refused": [one["source"] for one in played if one["refused"]],
        "unrepeatable": [one["source"] for one in played if one["unrepeatable"]],
        "not_audited": [one["source"] for one in reports if "not_audited" in one],
    }


def _show(report: dict[str, Any]) -> None:
    from rich.text import Text

    from verigym.verifiers.audit.card import percent

    out = console.out()
    out.print(Text(report["source"], style="bold"))
    if "not_audited" in report:
        out.print(Text(f"  not audited: {report['not_audited']}", style="red"), soft_wrap=True)
        return
    share = percent(report["hack_rate"], report["hack_interval"])
    style = "red" if report["paid"] else "green"
    out.print(
        Text(
            f"  hack rate {share} of {report['tasks']} tasks, by {report['cheats_played']} cheats",
            style,
        )
    )
    for one in report["paid"][:_SHOWN]:
        line = (
            f"  {one['policy']}: {one['name']} is paid in {percent(one['rate'], one['interval'])}, "
            f"{one['mean_reward']:.2f} on average; such as {one['example']}"
        )
        out.print(Text(line, style="yellow"), no_wrap=True, overflow="ellipsis")
    if len(report["paid"]) > _SHOWN:
        out.print(f"  [dim]and {len(report['paid']) - _SHOWN} more; --json lists them[/dim]")
    for one in report["faults"][:_SHOWN]:
        line = f"  no score in {one['tasks']} tasks: {one['name']}; {': '.join(one['example'])}"
        out.print(Text(line, style="yellow"), no_wrap=True, overflow="ellipsis")
    for title, found in (
        ("its own solution is refused", report["refused"]),
        ("the seed gives another task the second time", report["unrepeatable"]),
    ):
        if found:
            line = f"  {title} in {len(found)} tasks, such as {found[0]}"
            out.print(Text(line, style="yellow"), no_wrap=True, overflow="ellipsis")
    if report["oracle"] != "played":
        out.print(Text(f"  no solution was played: {report['oracle']}", style="dim"))


def _show_whole(whole: dict[str, Any]) -> None:
    from verigym.verifiers.audit.card import percent

    share = percent(whole["hack_rate"], whole["hack_interval"])
    console.out().print(
        f"{len(whole['sources'])} sources, {whole['tasks']} tasks: hack rate {share}; cheated "
        f"{len(whole['cheated'])}, without a score {len(whole['without_a_score'])}, own solution refused "
        f"{len(whole['refused'])}, unrepeatable {len(whole['unrepeatable'])}, not audited {len(whole['not_audited'])}"
    )


def _check(whole: dict[str, Any], limit: float) -> None:
    """Exit with 3 if no source could be audited, and with 4 if one is at fault."""
    if len(whole["not_audited"]) == len(whole["sources"]):
        raise typer.Exit(console.MACHINE)
    worst = max((one.get("hack_rate") or 0.0 for one in whole["sources"]), default=0.0)
    if worst > limit or whole["without_a_score"] or whole["refused"] or whole["unrepeatable"]:
        raise typer.Exit(console.BELOW)
