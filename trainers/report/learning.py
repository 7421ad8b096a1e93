"""The learning curve: of one run with its raw steps, of several as mean and spread."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from verigym.trainers.report.read import EvaluationRow, RunRecords
from verigym.trainers.report.stats import (
    PooledSuccess,
    Spread,
    mean_sd,
    pool,
    spread,
    thin,
    window_for,
)
from verigym.trainers.report.svg import WIDTHS, Plot, percent, responsive, short

SHARE_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
EVAL_STYLE = {"test": "s2", "validation": "s3", "train": "s1"}
MAX_EVALS = 60


def by_label(runs: Sequence[RunRecords]) -> dict[str, list[RunRecords]]:
    """Return the runs that are averaged: those of one algorithm, and of one environment where they differ."""
    several = len({run.header.env_id for run in runs}) > 1
    groups: dict[str, list[RunRecords]] = {}
    for run in runs:
        label = f"{run.label} on {run.header.env_id}" if several else run.label
        groups.setdefault(label, []).append(run)
    return groups


def train_curve(run: RunRecords) -> list[PooledSuccess]:
    """Return the training success pooled over the last steps, by step."""
    points = [(float(s.step), s.success_rate, s.scored) for s in run.steps]
    return pool(points, window_for(len(points)))


def hack_curve(run: RunRecords) -> list[PooledSuccess]:
    """Share of episodes that used a planted loophole, pooled like `train_curve`; empty if none is planted."""
    points = [(float(s.step), s.hack_rate, s.scored) for s in run.steps]
    known = [point for point in points if point[1] is not None]
    return pool(known, window_for(len(points)))


def legend(entries: Sequence[tuple[str, str, str]]) -> str:
    """Return swatches of (kind, style, text); kind is line, band, dot, diamond, box or dash."""
    items = "".join(
        f'<li><i class="key {kind} {style}"></i>{escape(text)}</li>'
        for kind, style, text in entries
    )
    return f'<ul class="legend">{items}</ul>'


def evaluation_text(e: EvaluationRow) -> str:
    """Return one evaluation in a sentence."""
    rate = "no valid episode" if e.success_rate is None else percent(e.success_rate)
    interval = f" ({percent(e.interval[0])} to {percent(e.interval[1])})" if e.interval else ""
    faults = f", {sum(e.faults.values())} faulted" if sum(e.faults.values()) else ""
    return f"step {e.step}, split {e.split}: {rate}{interval}, {e.scored} episodes{faults}"


def one_run(run: RunRecords) -> str:
    """Return the legend and curve of a single run."""
    curve, hacked = train_curve(run), hack_curve(run)
    window = window_for(len(run.steps))
    evals = [e for e in run.evals if e.success_rate is not None]
    xs = [s.step for s in run.steps] + [e.step for e in evals]
    if not xs:
        return '<p class="empty">No step has been recorded yet.</p>'

    def draw(width: int) -> Plot:
        plot = Plot(
            width=width,
            height=220 if width < 400 else 320,
            x_range=(min(xs), max(xs)),
            y_range=(0.0, 1.0),
            y_ticks=SHARE_TICKS,
            y_format=percent,
            x_label="training step",
            title="Learning curve: success over training steps",
        )
        kept = [curve[i] for i in thin(len(curve), width // 4)]
        plot.band([(p.x, p.low) for p in kept], [(p.x, p.high) for p in kept], "s1")
        if window > 1:
            raw = [run.steps[i] for i in thin(len(run.steps), width // 3)]
            plot.dots(
                [(s.step, s.success_rate) for s in raw if s.success_rate is not None], "s1 faint"
            )
        for stage, rate in run.beginnings:
            plot.level(rate, "", f"{stage.name} {percent(rate)}")
        plot.line([(p.x, p.rate) for p in kept], "s1")
        if hacked:
            plot.line([(hacked[i].x, hacked[i].rate) for i in thin(len(hacked), width // 4)], "s4")
        plot.columns(
            [
                (
                    p.x,
                    f"step {p.x:.0f}\ntraining success {percent(p.rate)}"
                    f"\n95 % interval {percent(p.low)} to {percent(p.high)}"
                    f"\n{p.n} episodes of {window} step{'s' * (window > 1)}",
                )
                for p in [curve[i] for i in thin(len(curve), width // 8)]
            ]
        )
        for e in [evals[i] for i in thin(len(evals), MAX_EVALS)]:
            if e.success_rate is not None:
                style = EVAL_STYLE.get(e.split, "s4")
                plot.whisker(e.step, e.success_rate, e.interval, style, evaluation_text(e))
        return plot

    entries = [("line", "s1", "training" + (f", last {window} steps pooled" if window > 1 else ""))]
    entries.append(("band", "s1", "95 % interval"))
    if hacked:
        entries.append(("line", "s4", "used the planted loophole"))
    if window > 1:
        entries.append(("dot", "s1 faint", "single steps"))
    for split in dict.fromkeys(e.split for e in evals):
        entries.append(
            ("diamond", EVAL_STYLE.get(split, "s4"), f"evaluation on {split}, 95 % interval")
        )
    if run.beginnings:
        entries.append(("dash", "", "before training"))
    return legend(entries) + responsive(draw, WIDTHS)


def several_runs(runs: Sequence[RunRecords]) -> str:
    """Return the legend and curves by algorithm: mean over seeds, and one standard deviation on either side."""
    groups = by_label(runs)
    use_env_steps = all(s.env_steps for run in runs for s in run.steps)
    curves = {
        label: spread([_curve(run, use_env_steps) for run in members])
        for label, members in groups.items()
    }
    curves = {label: curve for label, curve in curves.items() if curve}
    if not curves:
        return '<p class="empty">No step has been recorded yet.</p>'
    evals = {label: _evals(members, use_env_steps) for label, members in groups.items()}
    ends = [p.x for curve in curves.values() for p in (curve[0], curve[-1])]
    ends += [x for points in evals.values() for x, _, _, _ in points]

    def draw(width: int) -> Plot:
        plot = Plot(
            width=width,
            height=220 if width < 400 else 320,
            x_range=(min(ends), max(ends)),
            y_range=(0.0, 1.0),
            y_ticks=SHARE_TICKS,
            y_format=percent,
            x_label="environment steps" if use_env_steps else "training step",
            title="Learning curves: mean training success over seeds",
        )
        for i, curve in enumerate(curves.values()):
            low = [(p.x, max(0.0, p.mean - p.sd)) for p in curve]
            high = [(p.x, min(1.0, p.mean + p.sd)) for p in curve]
            plot.band(low, high, style_of(i))
        for i, curve in enumerate(curves.values()):
            plot.line([(p.x, p.mean) for p in curve], style_of(i))
        longest = max(curves.values(), key=lambda curve: curve[-1].x)
        plot.columns(
            [
                (longest[i].x, _tip(longest[i].x, curves))
                for i in thin(len(longest), max(2, width // 10))
            ]
        )
        for i, label in enumerate(groups):
            for x, mean, sd, text in evals.get(label, []):
                plot.whisker(x, mean, (max(0.0, mean - sd), min(1.0, mean + sd)), style_of(i), text)
        return plot

    entries = []
    for i, (label, members) in enumerate(groups.items()):
        entries.append(("line", style_of(i), f"{label}, {_seeds(len(members))}"))
    entries.append(("band", "ink", "one standard deviation over seeds"))
    if any(evals.values()):
        entries.append(("diamond", "ink", "evaluation, mean and standard deviation"))
    return legend(entries) + responsive(draw, WIDTHS)


def style_of(i: int) -> str:
    """Return the class that colours the i-th series."""
    return f"s{i % 8 + 1}"


def _seeds(n: int) -> str:
    return f"{n} seed{'s' * (n != 1)}"


def _curve(run: RunRecords, use_env_steps: bool) -> list[tuple[float, float]]:
    env_steps = {float(s.step): float(s.env_steps) for s in run.steps}
    return [(env_steps[p.x] if use_env_steps else p.x, p.rate) for p in train_curve(run)]


def _evals(
    runs: Sequence[RunRecords], use_env_steps: bool
) -> list[tuple[float, float, float, str]]:
    """(x, mean, sd, text) for each (step, split) at which every run was evaluated."""
    found: dict[tuple[int, str], list[EvaluationRow]] = {}
    for run in runs:
        for e in run.evals:
            if e.success_rate is not None:
                found.setdefault((e.step, e.split), []).append(e)
    points = []
    for (step, split), members in sorted(found.items()):
        if len(members) == len(runs):
            mean, sd = mean_sd(e.success_rate for e in members if e.success_rate is not None)
            x, _ = mean_sd(float(e.env_steps if use_env_steps else e.step) for e in members)
            text = f"step {step}, split {split}\nmean {percent(mean)}, sd {percent(sd)}, {_seeds(len(runs))}"
            points.append((x, mean, sd, text))
    return [points[i] for i in thin(len(points), MAX_EVALS)]


def _tip(x: float, curves: dict[str, list[Spread]]) -> str:
    lines = [f"at {short(x)}"]
    for label, curve in curves.items():
        if curve[0].x <= x <= curve[-1].x:
            near = min(curve, key=lambda p: abs(p.x - x))
            lines.append(f"{label} {percent(near.mean)} ± {percent(near.sd)}")
    return "\n".join(lines)
