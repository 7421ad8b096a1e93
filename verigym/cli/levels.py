"""`verigym levels`: what the levels of an environment take, and how policies do on them, without a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verigym.cli import console, options
from verigym.cli.faults import stop_if_faulted
from verigym.cli.progress import Bar, EpisodeBar
from verigym.errors import RequestError

if TYPE_CHECKING:
    from rich.text import Text

    from verigym.env import Env
    from verigym.envs.check.by_level import LevelFigures, Success
    from verigym.trainers.report.levels import Curve


def levels(
    env_id: Annotated[str, typer.Argument(metavar="ID", help="Environment id or short id.")],
    seeds: Annotated[
        int, typer.Option("--seeds", "-n", min=1, help="Number of tasks to play at each level.")
    ] = 10,
    shortcuts: Annotated[
        bool | None,
        typer.Option(
            "--shortcuts/--no-shortcuts",
            help="Play random moves, constants and other policies that solve nothing. Default: yes, unless every "
            "verdict runs programs.",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", "-p", help="Play a policy as well: any that verigym run takes."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.svg", help="File to draw the success by level to."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    temperature: options.Temperature = None,
    max_new_tokens: options.MaxNewTokens = None,
    think: options.Think = None,
    concurrency: options.Concurrency = None,
    patience_s: options.Patience = 60.0,
) -> None:
    """Show by level what the oracle's play takes, and the success of policies.

    Operations, turns and lengths are medians along the oracle's play. The noisy policy plays as the oracle does,
    and gets each operation wrong with a probability of 10, 1 or 0.1 %. Success is the mean return in percent,
    with its 95 % interval.
    """
    from verigym.envs.check.by_level import measure_levels
    from verigym.envs.check.subject import Subject
    from verigym.registry import resolve

    if plot is not None and plot.suffix != ".svg":
        raise RequestError(f"--plot draws SVG files, got {plot}; let its name end with .svg")
    subject = Subject(resolve(env_id))
    env = subject.make() if shortcuts else subject.quick()
    if env.oracle_absent:
        raise RequestError(f"{env.id} has no oracle to measure: {env.oracle_absent}")
    names = list(env.scale().levels)
    with Bar("levels", len(names)) as bar:
        some = not env.costly if shortcuts is None else shortcuts
        rows = measure_levels(env, range(seeds), shortcuts=some, on_level=bar.count)
    if policy is not None:
        chosen = (policy, temperature, max_new_tokens, False, think, False, concurrency)
        played = _play(env, names, seeds, chosen, patience_s)
        rows = [replace(row, policies={policy: played[row.name]}) for row in rows]
    if plot is not None:
        from verigym.trainers.report.levels import draw_levels

        title = f"{env.id}: success by level, {seeds} tasks a level"
        operations = [(row.level, row.operations) for row in rows]
        plot.write_text(draw_levels(title, operations, _curves(rows)), encoding="utf-8")
    if as_json:
        found = [row.as_json() for row in rows]
        console.write_json({"id": env.id, "seeds": seeds, "levels": found})
    else:
        _show(env.id, seeds, rows)


def _play(
    env: Env[Any], names: list[str], seeds: int, chosen: tuple[Any, ...], patience_s: float
) -> dict[str, Success]:
    """Play a policy on the tasks that the oracle played; return its success by level."""
    from verigym.agents.loop import Settings, plan_groups, play
    from verigym.agents.prompts import PromptChoices, encoding_for
    from verigym.agents.record import summarise
    from verigym.envs.check.by_level import Success

    plans = [
        plan
        for name in names
        for plan in plan_groups(
            env.id,
            range(seeds),
            run_key=(env.level_of(name),),
            prefix=f"{name}.",
            difficulty=name,
            split=env.split,
        )
    ]
    with (
        options.open_policy(*chosen) as player,
        EpisodeBar(f"{env.id} by {player.name}", len(plans)) as bar,
    ):
        played = play(
            plans,
            player,
            encoding=encoding_for(player, PromptChoices()),
            settings=Settings(
                patience_s=patience_s, fault_limit=1.0, max_live=options.max_live(chosen[-1])
            ),
            on_episode=bar.count,
            on_wait=bar.wait,
        )
    causes = summarise(played)
    details = [one.fault.detail for one in played if one.fault is not None]
    stop_if_faulted(causes["faults"], causes["episodes"], causes["faults_by_cause"], details)
    found = {}
    for name in names:
        scored = summarise([one for one in played if one.difficulty == name])
        n = scored["episodes"] - scored["faults"]
        # A level of which every episode faulted has no success: it may be anything.
        mean, within = (
            (scored["success_rate"], tuple(scored["success_interval"])) if n else (None, (0.0, 1.0))
        )
        found[name] = Success(mean, within, n)
    return found


def _successes(row: LevelFigures) -> dict[str, Success]:
    """Return all policies of a level by the names that people read."""
    noisy = {f"errs in {100 * rate:g} %": one for rate, one in row.noisy.items()}
    return {**row.policies, **noisy, **row.shortcuts}


def _curves(rows: list[LevelFigures]) -> list[Curve]:
    from verigym.trainers.report.levels import Curve

    found = []
    for name in _successes(rows[0]):
        points = [
            (row.level, one.mean, *one.interval)
            for row in rows
            if (one := _successes(row)[name]).mean is not None
        ]
        found.append(Curve(name, points, is_thin=name in rows[0].shortcuts))
    return found


def _show(env_id: str, seeds: int, rows: list[LevelFigures]) -> None:
    """Print a table of sizes and a table of successes."""
    from rich.table import Table
    from rich.text import Text

    sizes = Table(title=Text(f"{env_id}: {seeds} tasks per level"), title_justify="left")
    for name in ("level", "name", "operations", "turns", "prompt chars", "answer chars"):
        sizes.add_column(name, justify="left" if name == "name" else "right")
    rates = Table(title="success in %, 95 % interval", title_justify="left")
    rates.add_column("level", justify="right")
    for name in _successes(rows[0]):
        rates.add_column(Text(name), justify="right")
    for row in rows:
        name = "" if row.name == str(row.level) else row.name
        figures = (row.operations, row.turns, row.prompt_chars, row.answer_chars)
        sizes.add_row(str(row.level), name, *(f"{figure:,.0f}" for figure in figures))
        rates.add_row(str(row.level), *map(_written, _successes(row).values()))
    console.out().print(sizes)
    console.out().print(rates)


def _written(one: Success) -> Text:
    """Return the mean in percent, and its interval behind it or, where there is no room, below."""
    from rich.text import Text

    if one.mean is None:
        return Text("-", style="dim")
    low, high = one.interval
    return Text.assemble(f"{100 * one.mean:.0f}", (f" {100 * low:.0f}-{100 * high:.0f}", "dim"))
