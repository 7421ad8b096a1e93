"""The page's words and tables: what was run, the headline figures, notes, configuration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from verigym.trainers.report.learning import by_label, style_of, train_curve
from verigym.trainers.report.read import EvaluationRow, RunRecords
from verigym.trainers.report.stats import mean_sd
from verigym.trainers.report.svg import percent, seconds, short

_MAX_NOTES = 40
_MAX_VALUE = 400


def title(runs: Sequence[RunRecords]) -> str:
    """Return the page's title, escaped."""
    if len(runs) == 1:
        return escape(runs[0].header.name or runs[0].path.name)
    return escape(f"{' against '.join(by_label(runs))}: {len(runs)} runs")


def header(runs: Sequence[RunRecords], trained_splits: Sequence[str]) -> str:
    """Return the name, algorithm, environment, seeds, start, and what was trained on."""
    first = runs[0].header
    envs = ", ".join(dict.fromkeys(run.header.env_id or "unknown environment" for run in runs))
    known = sorted({run.header.seed for run in runs if run.header.seed is not None})
    seeds = ", ".join(map(str, known))
    facts = [
        " and ".join(by_label(runs)) + f" on {envs}",
        f"seed{'s' * (len(known) > 1)} {seeds}" if seeds else "",
        f"started {first.started}" if first.started else "",
        ", ".join(f"{name} {version}" for name, version in first.versions.items()),
    ]
    line = "".join(f"<li>{escape(fact)}</li>" for fact in facts if fact)
    return f'<h1>{title(runs)}</h1><ul class="facts">{line}</ul>{_splits(runs, trained_splits)}'


def _splits(runs: Sequence[RunRecords], trained: Sequence[str]) -> str:
    evaluated = sorted({e.split for run in runs for e in run.evals})
    forbidden = [split for split in trained if split != "train"]
    if forbidden:
        return (
            f'<p class="alarm" role="alert">Training episodes of split {escape(", ".join(forbidden))} '
            "were found in this run. Figures on that split are not held out.</p>"
        )
    held = " and ".join(split for split in evaluated if split != "train")
    if trained and held:
        return (
            f'<p class="held">Trained on split train alone, as every recorded training episode says; '
            f"{escape(held)} held out and only measured.</p>"
        )
    return ""


def notes(lines: Sequence[str]) -> str:
    """Return a note on the data that could not be read; empty if there is none."""
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines[:_MAX_NOTES])
    if len(lines) > _MAX_NOTES:
        items += f"<li>and {len(lines) - _MAX_NOTES} more</li>"
    return f'<aside class="notes" id="notes"><h2>Notes on the data</h2><ul>{items}</ul></aside>'


def tiles(runs: Sequence[RunRecords]) -> str:
    """Return the headline figures: of a single run, or one per algorithm over its seeds."""
    if len(runs) > 1:
        groups = by_label(runs).items()
        return "".join(_group_tile(*group, style_of(i)) for i, group in enumerate(groups))
    run = runs[0]
    found: list[str] = []
    last = _last_eval(run)
    if last is not None and last.success_rate is not None:
        low_high = (
            f"{100 * last.interval[0]:.0f} to {percent(last.interval[1])} at 95\u00a0%, "
            if last.interval
            else ""
        )
        found.append(
            _tile(
                f"Success on {last.split}",
                percent(last.success_rate),
                f"{low_high}{last.scored} episodes at step {last.step}",
                "s1",
            )
        )
    for stage, rate in run.beginnings:
        about = f"{stage.episodes} episodes before step 1" if stage.episodes else "before step 1"
        name = "At the start" if stage.name == "start" else f"After {stage.name}"
        found.append(_tile(name, percent(rate), about))
    curve = train_curve(run)
    if curve:
        found.append(
            _tile("Training success", percent(curve[-1].rate), f"last {curve[-1].n} episodes")
        )
    if run.steps:
        end = run.steps[-1]
        played = sum(s.episodes for s in run.steps)
        found.append(
            _tile("Training steps", str(end.step), f"{played:,} episodes, {end.env_steps:,} turns")
        )
        tokens = sum(s.n_tokens for s in run.steps)
        about = f"{short(tokens)} tokens trained" if tokens else "on the wall clock"
        found.append(_tile("Time", seconds(end.wall_s), about))
    lost = sum(sum(s.faults.values()) for s in run.steps)
    lost += sum(sum(e.faults.values()) for e in run.evals)
    found.append(_tile("Faulted episodes", str(lost), "left out of every statistic"))
    return "".join(found)


def _group_tile(label: str, members: Sequence[RunRecords], style: str) -> str:
    rates = [
        e.success_rate for run in members if (e := _last_eval(run)) and e.success_rate is not None
    ]
    what = "last evaluation"
    if not rates:
        rates = [curve[-1].rate for run in members if (curve := train_curve(run))]
        what = "end of training"
    if not rates:
        return _tile(label, "no data", f"{len(members)} seeds")
    mean, sd = mean_sd(rates)
    spread = f" ± {100 * sd:.0f}" if len(rates) > 1 else ""
    about = f"{what}, mean{' and deviation' if spread else ''} over {len(rates)} seed{'s' * (len(rates) > 1)}"
    return _tile(label, f"{100 * mean:.0f}{spread}\u00a0%", about, style)


def _last_eval(run: RunRecords) -> EvaluationRow | None:
    """The last evaluation, on test where there is one."""
    held = [e for e in run.evals if e.split == "test"] or run.evals
    return held[-1] if held else None


def _tile(name: str, value: str, about: str, style: str = "") -> str:
    """One headline figure; `style` colours it as its series."""
    return (
        f'<div class="tile {style}"><span>{escape(name)}</span><b>{escape(value)}</b>'
        f"<small>{escape(about)}</small></div>"
    )


def evaluations(runs: Sequence[RunRecords]) -> str:
    """Return all evaluations as a table, folded."""
    rows = "".join(
        "<tr>"
        + (f'<th scope="row">{escape(run.label)} {run.header.seed}</th>' if len(runs) > 1 else "")
        + f"<td>{e.step}</td><td>{e.env_steps:,}</td><td>{escape(e.split)}</td><td>{e.episodes}</td>"
        + f"<td>{'none valid' if e.success_rate is None else f'{100 * e.success_rate:.1f} %'}</td>"
        + f"<td>{f'{100 * e.interval[0]:.1f} to {100 * e.interval[1]:.1f} %' if e.interval else ''}</td>"
        + f"<td>{sum(e.faults.values())}</td></tr>"
        for run in runs
        for e in run.evals
    )
    if not rows:
        return ""
    names = ["step", "turns", "split", "episodes", "success", "95 % interval", "faults"]
    head = "".join(f"<th>{name}</th>" for name in (["run"] if len(runs) > 1 else []) + names)
    return (
        "<details><summary>All evaluations as a table</summary><div class='scroll'>"
        f'<table class="figures"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        "</div></details>"
    )


def transcripts_about(shown: int, left_out: int) -> str:
    """Return a sentence with the number of transcripts that the page holds and leaves out."""
    if not shown and not left_out:
        return "No transcripts were recorded."
    if left_out:
        return (
            f"{shown} of {shown + left_out} recorded transcripts, spread over the run; {left_out} are "
            "left out to keep this file small, and stay in the run folder."
        )
    return f"All {shown} recorded transcripts."


def configuration(runs: Sequence[RunRecords]) -> str:
    """Return the first run's configuration, flat; what differs in the others is named."""
    flat = [_flatten(run.header.config) for run in runs]
    if not any(flat):
        return '<p class="empty">No configuration was recorded.</p>'
    rows = []
    for key in dict.fromkeys(key for one in flat for key in one):
        values = list(dict.fromkeys(one.get(key, "absent") for one in flat))
        shown = "  |  ".join(values)
        if len(shown) > _MAX_VALUE:
            shown = f"{shown[:_MAX_VALUE]} …"
        rows.append(
            f'<tr{" class=differs" if len(values) > 1 else ""}><th scope="row">{escape(key)}</th>'
            f"<td>{escape(shown)}</td></tr>"
        )
    return f'<div class="scroll"><table class="config"><tbody>{"".join(rows)}</tbody></table></div>'


def _flatten(value: Any, prefix: str = "") -> dict[str, str]:
    if isinstance(value, dict) and value:
        flat: dict[str, str] = {}
        for key, item in value.items():
            flat.update(_flatten(item, f"{prefix}.{key}" if prefix else str(key)))
        return flat
    if not prefix:
        return {}
    return {prefix: value if isinstance(value, str) else json.dumps(value)}
