"""`verigym check`: proves environments sound, law by law, and measures them."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verigym.choosing import choose_envs
from verigym.cli import console
from verigym.errors import RequestError, suggestion

if TYPE_CHECKING:
    from verigym.envs.check import CheckReport, LawOutcome


def check(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID...",
            help="Environment ids, short ids, globs such as 'games/*', or folders of `verigym new --for`.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Check every installed environment.")
    ] = False,
    seeds: Annotated[int, typer.Option(min=2, help="Number of tasks to check rewards on.")] = 200,
    only: Annotated[
        list[str] | None, typer.Option(metavar="LAW", help="Check only this law; repeatable.")
    ] = None,
    laws: Annotated[bool, typer.Option("--laws", help="List the laws and exit.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, help="Environments to check in parallel.")
    ] = 1,
    cards: Annotated[
        Path | None,
        typer.Option("--card", metavar="DIR", help="Folder to write the cards to."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the cards as a JSON list.")
    ] = False,
) -> None:
    """Check that environments keep the contract; exit code 4 if a law does not hold.

    Of a folder that `verigym new --for` wrote, the environment that it publishes is checked, and its files: Python that
    compiles, Harbor tasks whose solution earns 1 and which pay nothing for nothing.
    """
    from verigym.canonical import to_json
    from verigym.envs.check import LAWS
    from verigym.envs.check.card import card, markdown

    by_name = {law.__name__: law for law in LAWS}
    if laws:
        for name, law in by_name.items():
            console.out().print(f"[cyan]{name}[/cyan]  {(law.__doc__ or '').splitlines()[0]}")
        return
    for name in only or ():
        if name not in by_name:
            raise RequestError(f"unknown law {name!r}; {suggestion(name, by_name)}")
    chosen = [name for name in by_name if not only or name in only]
    packages = [Path(one) for one in ids or () if _is_package(one)]
    named = [one for one in ids or () if Path(one) not in packages] + _published(packages)
    reports = _check_all(_all_or(named, every), seeds, chosen, jobs, quiet=as_json)
    made = [card(report) for report in reports]
    if cards is not None:
        cards.mkdir(parents=True, exist_ok=True)
        for one in made:
            stem = one["id"].removeprefix("verigym/").replace("/", "-")
            (cards / f"{stem}.md").write_text(markdown(one), encoding="utf-8")
            (cards / f"{stem}.json").write_bytes(to_json(one) + b"\n")
    if as_json:
        console.write_json(made)
    elif len(made) == 1:
        console.out().print(markdown(made[0]), markup=False, emoji=False)
    else:
        passed = sum(report.passed for report in reports)
        console.out().print(f"{passed} of {len(reports)} environments passed")
    broken = [one for report in reports for one in report.outcomes if one.broken is not None]
    if _tell_faults(packages):
        raise typer.Exit(console.BELOW)
    if broken:
        raise typer.Exit(console.MACHINE if all(one.machine for one in broken) else console.BELOW)


def _is_package(name: str) -> bool:
    """Return True for a folder; an environment of the same name, such as one installed from it, goes first."""
    from verigym.registry import resolve

    if not Path(name).is_dir():
        return False
    try:
        resolve(name)
    except RequestError:
        return True
    return False


def _published(packages: list[Path]) -> list[str]:
    if not packages:
        return []
    from verigym.envs.new.published import published_env

    return [published_env(package) for package in packages]


def _tell_faults(packages: list[Path]) -> bool:
    """Print what is wrong with the files of packages; return True if anything is."""
    if not packages:
        return False
    from verigym.envs.new.published import faults_of

    faults = [fault for package in packages for fault in faults_of(package)]
    for fault in faults:
        console.note(f"✗ {fault}")
    return bool(faults)


def _all_or(asked: list[str], every: bool) -> list[str]:
    from verigym.registry import list_envs

    if every:
        return list(list_envs())
    if not asked:
        raise RequestError(
            "no environment was named; give some ids, or --all for every installed one"
        )
    return list(choose_envs(asked))


def _check_all(
    ids: list[str], seeds: int, laws: list[str], jobs: int, *, quiet: bool
) -> list[CheckReport]:
    if jobs == 1 or len(ids) == 1:
        reports = []
        for env_id in ids:
            if not quiet:
                console.note(env_id)
            reports.append(_check_one(env_id, seeds, laws, told=not quiet))
        return reports
    by_id = {}
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(_check_one, env_id, seeds, laws): env_id for env_id in ids}
        try:
            for done in as_completed(waiting):
                report = by_id[waiting[done]] = done.result()
                if not quiet:
                    console.note(report.env_id)
                    for outcome in report.outcomes:
                        if outcome.broken is not None:
                            _tell(outcome)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [by_id[env_id] for env_id in ids]


def _check_one(env_id: str, seeds: int, laws: list[str], told: bool = False) -> CheckReport:
    from verigym.envs.check import LAWS, check

    return check(
        env_id,
        seeds=seeds,
        laws=[law for law in LAWS if law.__name__ in laws],
        progress=_tell if told else None,
    )


def _tell(outcome: LawOutcome) -> None:
    from rich.text import Text

    sign, style = ("✓", "green") if outcome.broken is None else ("✗", "bold red")
    if outcome.waived:
        sign, style = "-", "dim"
    line = Text.assemble((f"  {sign} ", style), outcome.law.replace("_", " "))
    if outcome.broken is not None:
        line.append(f": {outcome.broken}", "red")
    if outcome.waived:
        line.append(f": not claimed; {outcome.waived}", "dim")
    line.append(f"  {outcome.seconds:.1f} s", "dim")
    console.err().print(line, soft_wrap=True)
