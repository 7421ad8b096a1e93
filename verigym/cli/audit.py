"""`verigym audit`: measure how often a verifier is wrong, on labelled cases, generated ones and hacks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console
from verigym.cli.audit_tasks import audit_sources
from verigym.cli.progress import Bar
from verigym.errors import RequestError

if TYPE_CHECKING:
    from verigym.verifiers.audit.cases import Case
    from verigym.verifiers.pool import VerifierPool

_SHOWN = 20
_MAX_LISTED = 2000


def audit(
    verifier: Annotated[
        str | None,
        typer.Argument(
            metavar="[VERIFIER]",
            help="Verifier id, or a family for its main verifier; optional with a file of --hacks.",
        ),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            "--cases", metavar="FILE", help="JSON Lines file of labelled cases; see docs/audit.md."
        ),
    ] = None,
    hacks: Annotated[
        Path | None,
        typer.Option(
            "--hacks",
            metavar="PATH",
            help="Submissions that must earn nothing: a folder of programs (code) or a file.",
        ),
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            "--tasks",
            metavar="SOURCE",
            help="Play cheats on tasks instead: an environment or pattern, a dataset (.toml; .jsonl with VERIFIER), "
            "raw:reasoning-gym/NAME, a Harbor folder, or ors+http://HOST:PORT/ENV; repeatable.",
        ),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            "--count", "-n", min=1, help="With --tasks: number of tasks of each environment."
        ),
    ] = 24,
    guess: Annotated[
        float | None,
        typer.Option(
            "--guess",
            min=0,
            max=1,
            help="With --tasks: mean reward that a constant may earn by luck. Default: what the environment says.",
        ),
    ] = None,
    planted: Annotated[
        str | None,
        typer.Option(
            "--planted",
            metavar="LOOPHOLE",
            help="With --tasks: plant this loophole first (keyword, blank, length), which the audit must find.",
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="ID", help="Second verifier to compare with.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="NAME=VALUE", help="Verifier parameter; VALUE is JSON; repeatable."
        ),
    ] = None,
    grow: Annotated[
        bool | None,
        typer.Option(
            "--grow/--no-grow",
            help="Generate rewrites and near misses of the cases. Default: only for built-in cases.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Random seed of the generated cases.")] = 0,
    accept_at: Annotated[
        float,
        typer.Option("--accept-at", min=0, max=1, help="Lowest score that counts as accepted."),
    ] = 0.5,
    card: Annotated[
        Path | None,
        typer.Option("--card", metavar="PATH", help="Write the card to PATH.json and PATH.md."),
    ] = None,
    blind: Annotated[
        str | None,
        typer.Option(
            "--blind",
            metavar="NAME",
            help="Add the rates of these held-out cases to the --card as the blind set NAME.",
        ),
    ] = None,
    fail_above: Annotated[
        float | None,
        typer.Option(
            "--fail-above",
            min=0,
            max=1,
            help="Exit with code 4 if either error rate is higher or a hack earned reward.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Number of worker processes. Default: one per core, up to 4."
        ),
    ] = None,
    timeout_s: Annotated[
        float,
        typer.Option(
            "--timeout", min=0.1, help="Time limit per case in seconds; a slower case is a fault."
        ),
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure how often a verifier is wrong, by default on its built-in cases, or how often tasks pay for cheating."""
    from verigym.verifiers.audit.blind import add_measurement, make_measurement, without_seeds
    from verigym.verifiers.audit.card import write_card
    from verigym.verifiers.audit.cases import read_cases, resolve_verifier, seed_params, seeds_of
    from verigym.verifiers.audit.hacks import judge_hack_cases, judge_hacks, read_hack_cases
    from verigym.verifiers.audit.mutators import grow as grown
    from verigym.verifiers.pool import VerifierPool

    workers = workers or min(4, os.cpu_count() or 1)
    if tasks:
        audit_sources(
            tasks,
            verifier=None if verifier is None else resolve_verifier(verifier),
            count=count,
            seed=seed,
            guess=guess,
            planted=planted,
            workers=workers,
            timeout_s=timeout_s,
            fail_above=fail_above,
            as_json=as_json,
        )
        return
    if verifier is None:
        if hacks is None or not hacks.is_file():
            raise RequestError(
                "no verifier was named; give its id, or a file of hacks for several with --hacks FILE"
            )
        submissions = read_hack_cases(hacks)
        with (
            VerifierPool(workers, timeout_s=timeout_s) as pool,
            Bar("hacks", len(submissions)) as bar,
        ):
            hacked = judge_hack_cases(pool, submissions, on_case=lambda _: bar.count())
        _finish({"hacks": str(hacks), **hacked}, as_json, fail_above)
        return
    name = resolve_verifier(verifier)
    other = resolve_verifier(against) if against is not None else None
    params = read_params(param or [])
    chosen: list[Case] = []
    n_seeds = 0
    if blind is not None and (cases is None or card is None or grow or hacks is not None):
        raise RequestError(
            "--blind NAME needs --cases FILE and --card PATH, without --grow and --hacks"
        )
    if cases is not None:
        chosen = read_cases(cases, name)
        if blind is not None:
            n_read = len(chosen)
            chosen = without_seeds(name, chosen)
            n_seeds = n_read - len(chosen)
    elif hacks is None or card is not None:
        chosen = seeds_of(name)
        params = {**seed_params(name), **params}
        if not chosen and hacks is None:
            raise RequestError(f"{name} has no built-in cases; give some with --cases FILE")
    if chosen and (grow if grow is not None else cases is None):
        chosen = grown(name, chosen, seed)
    listed = read_hack_cases(hacks, name) if hacks is not None and hacks.is_file() else None
    report: dict[str, Any] = {}
    earlier: dict[str, Any] = {}
    hacked = {}
    with VerifierPool(workers, timeout_s=timeout_s, preload=[name]) as pool:
        described = pool.describe(name, params)
        if blind is not None and card is not None:
            earlier = _card_to_add_to(card, described)
        if chosen:
            report = _measure(pool, name, other, params, chosen, accept_at)
        if hacks is not None:
            with Bar(f"{name} against hacks", None) as bar:
                if listed is not None:
                    hacked = judge_hack_cases(pool, listed, on_case=lambda _: bar.count())
                else:
                    hacked = judge_hacks(
                        pool, name, hacks, params=params, on_case=lambda _: bar.count()
                    )
    whole = {
        "verifier": name,
        "version": described["version"],
        "params": described["params"],
        "cases": str(cases) if cases is not None else "generated" if chosen else None,
        **report,
        **hacked,
    }
    if blind is not None and cases is not None and card is not None:
        new = make_measurement(blind, cases, name, described, report, n_seeds)
        earlier["blind"] = add_measurement(earlier.get("blind", []), new)
        for written in write_card(card, earlier):
            console.note(f"wrote {written}")
    elif card is not None:
        _write_card(card, described, report, hacked, from_seeds=cases is None)
    _finish(whole, as_json, fail_above)


def _write_card(
    path: Path,
    described: dict[str, Any],
    report: dict[str, Any],
    hacked: dict[str, Any],
    *,
    from_seeds: bool,
) -> None:
    """Write the card, keeping the blind measurements of this version that it already holds."""
    from verigym.verifiers.audit.card import SEEDS, make_card, read_file, write_card

    sets = {SEEDS if from_seeds else "Labelled cases": report, "Reward hacks": hacked}
    earlier = read_file(path) or {}
    kept = []
    if earlier.get("verifier") == described["id"]:
        for one in earlier.get("blind", ()):
            if one["version"] == described["version"]:
                kept.append(one)
            else:
                console.note(
                    f"left out: {one['name']}, a blind set measured on version {one['version']}"
                )
    card = make_card(described, {name: one for name, one in sets.items() if one}, kept)
    for written in write_card(path, card):
        console.note(f"wrote {written}")


def _card_to_add_to(path: Path, described: dict[str, Any]) -> dict[str, Any]:
    """Return the card at `path`. Raises RequestError if it describes another version of the verifier."""
    from verigym.verifiers.audit.card import read_file

    card = read_file(path) or {}
    if (card.get("verifier"), card.get("version")) != (described["id"], described["version"]):
        raise RequestError(
            f"{path} holds no card of {described['id']}@{described['version']}; write it first: "
            f"verigym audit {described['id']} --card {path}"
        )
    return card


def _finish(report: dict[str, Any], as_json: bool, fail_above: float | None) -> None:
    if as_json:
        console.write_json(report)
    else:
        _show(report)
    if fail_above is not None:
        _check(report, fail_above)


def read_params(given: list[str]) -> dict[str, Any]:
    """Parse `NAME=VALUE` pairs; a VALUE that is not JSON is a string. Raises RequestError."""
    import json

    params: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise RequestError(f"--param takes NAME=VALUE, got {pair!r}")
        try:
            params[name] = json.loads(value)
        except ValueError:
            params[name] = value
    return params


def _measure(
    pool: VerifierPool,
    name: str,
    other: str | None,
    params: dict[str, Any],
    cases: list[Case],
    accept_at: float,
) -> dict[str, Any]:
    from verigym.verifiers.audit.measure import agreement, failures, judge, summarise

    with Bar(name, len(cases)) as bar:
        outcomes = judge(pool, name, cases, params=params, accept_at=accept_at, on_case=bar.count)
    report = {**summarise(outcomes), "failures": failures(outcomes)[:_MAX_LISTED]}
    if other is not None:
        with Bar(other, len(cases)) as bar:
            others = judge(pool, other, cases, accept_at=accept_at, on_case=bar.count)
        report["against"] = {"verifier": other, **agreement(outcomes, others)}
    return report


def _show(report: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from verigym.verifiers.audit.card import percent

    out = console.out()
    name = f"{report['verifier']}@{report['version']}" if "verifier" in report else report["hacks"]
    if report.get("cases") == "generated":
        name += ", its seed cases and what was made of them"
    out.print(Text(name, style="bold"))
    if "n" in report:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("category", no_wrap=True)
        for title in ("n", "right rejected", "wrong accepted", "faults"):
            table.add_column(title, justify="right", no_wrap=True)
        for name, part in [("all", report), *sorted(report["by_category"].items())]:
            table.add_row(
                Text(name, style="bold" if part is report else ""),
                str(part["n"]),
                percent(part["false_negative_rate"], part["false_negative_interval"]),
                percent(part["false_positive_rate"], part["false_positive_interval"]),
                Text(str(part["errors"]), style="red" if part["errors"] else "dim"),
            )
        out.print(table)
        times = report["latency_ms"]
        accuracy = percent(report["accuracy"], report["accuracy_interval"])
        out.print(
            f"accuracy {accuracy}; time p50 {times['p50']} ms, p99 {times['p99']} ms, "
            f"worst {times['worst']} ms"
        )
        if "against" in report:
            other = report["against"]
            agreed = percent(other["agreement"], other["agreement_interval"])
            out.print(
                f"agrees with {other['verifier']} on {agreed}; only {report['verifier']} right: "
                f"{other['only_this_right']}, only the other: {other['only_other_right']}"
            )
        for one in report["failures"][:_SHOWN]:
            verb = {None: "no verdict on", 1: "rejected", 0: "accepted"}[
                None if one["score"] is None else one["label"]
            ]
            line = f"{verb} {one['name']} ({one['reason']}): {one['submission']}"
            out.print(Text(line, style="yellow"), no_wrap=True, overflow="ellipsis")
        more = len(report["failures"]) - _SHOWN
        if more > 0:
            out.print(f"[dim]and {more} more; --json lists them[/dim]")
    if "paid" in report:
        paid, failed = report["paid"], report["controls_failed"]
        out.print(
            f"{report['total']} hacks and controls: paid {', '.join(paid) or 'none'}; "
            f"controls refused {', '.join(failed) or 'none'}; "
            f"faults {', '.join(report['hack_errors']) or 'none'}"
        )
    if "paid_rate" in report:
        out.print(
            f"hacks paid {percent(report['paid_rate'], report['paid_interval'])}; without a score "
            f"{percent(report['hack_error_rate'], report['hack_error_interval'])}"
        )


def _check(report: dict[str, Any], limit: float) -> None:
    """Exit with 4 if a rate is above `limit`, and with 3 if every case is a fault."""
    bad = []
    for key, words in (
        ("false_positive_rate", "wrong answers accepted"),
        ("false_negative_rate", "right answers rejected"),
    ):
        value = report.get(key)
        if value is not None and value > limit:
            bad.append(f"{words}: {100 * value:.2f} %")
    if report.get("paid"):
        bad.append(f"hacks paid: {len(report['paid'])}")
    if report.get("controls_failed"):
        bad.append(f"controls refused: {len(report['controls_failed'])}")
    if report.get("hack_errors"):
        bad.append(f"hacks without a score: {len(report['hack_errors'])}")
    if bad:
        console.complain(f"above --fail-above {limit:g}: {'; '.join(bad)}")
        raise typer.Exit(console.BELOW)
    if report.get("n") and report["errors"] == report["n"]:
        console.complain("every case ended in a fault; nothing was measured")
        raise typer.Exit(console.MACHINE)
