"""Cost and losses of a run: seconds by activity, faults by cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from verigym.trainers.report.read import RunRecords, StepRow
from verigym.trainers.report.stats import thin
from verigym.trainers.report.svg import WIDTHS, Plot, percent, responsive, seconds, tip

# Which field of `Seconds`, its name, its colour.
_ACTIVITIES = (
    ("generation_s", "generation", "s1"),
    ("environment_s", "environment", "s3"),
    ("verifier_s", "verifier", "s4"),
    ("update_s", "update", "s7"),
)
_MAX_BARS = 60


def time_ledger(run: RunRecords) -> str:
    """Return the shares as one stacked bar, a table in seconds, and seconds by step."""
    totals = [_total(run.steps, field) for field, _, _ in _ACTIVITIES]
    whole = sum(totals)
    if whole <= 0:
        return '<p class="empty">No times were recorded.</p>'
    rows = "".join(
        f'<tr><th scope="row"><i class="key box {style}"></i>{name}</th><td>{seconds(total)}</td>'
        f"<td>{percent(total / whole)}</td></tr>"
        for (_, name, style), total in zip(_ACTIVITIES, totals, strict=True)
    )
    wall = max((s.wall_s for s in run.steps), default=0.0)
    sentence = (
        f'<p class="say">The steps took {seconds(whole)} by the ledger; the clock on the wall says '
        f"{seconds(wall)}. The rest is evaluation, checkpoints and start.</p>"
        if wall > whole
        else f'<p class="say">The steps took {seconds(whole)} by the ledger'
        + (
            f", within {seconds(wall)} on the clock, since activities overlap.</p>"
            if wall
            else ".</p>"
        )
    )
    table = (
        '<table class="figures"><thead><tr><th>activity</th><th>time</th><th>share</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )
    return sentence + _share_bar(totals, whole) + table + responsive(_by_step(run.steps), WIDTHS)


def _total(steps: Sequence[StepRow], field: str) -> float:
    return sum(max(0.0, float(getattr(s.time, field))) for s in steps)


def _share_bar(totals: Sequence[float], whole: float) -> str:
    parts = []
    x = 0.0
    for (_, name, style), total in zip(_ACTIVITIES, totals, strict=True):
        width = 1000 * total / whole
        text = f"{name}\n{seconds(total)}, {percent(total / whole)}"
        if width > 0:
            parts.append(
                f'<rect class="bar {style}" x="{x:.1f}" y="0" width="{max(1.0, width - 3):.1f}" '
                f'height="22" {tip(text)}/>'
            )
        x += width
    return (
        '<svg class="share" viewBox="0 0 1000 22" preserveAspectRatio="none" role="img" '
        f'aria-label="Share of time by activity">{"".join(parts)}</svg>'
    )


def _by_step(steps: Sequence[StepRow]) -> Callable[[int], Plot]:
    """Stacked seconds a step; neighbouring steps share a bar, as their mean, where there are many."""
    size = -(-len(steps) // _MAX_BARS)
    chunks = [steps[i : i + size] for i in range(0, len(steps), size)]
    stacks = [
        [_total(chunk, field) / len(chunk) for field, _, _ in _ACTIVITIES] for chunk in chunks
    ]

    def draw(width: int) -> Plot:
        plot = Plot(
            width=width,
            height=200,
            x_range=(0.0, float(len(chunks))),
            y_range=(0.0, max(sum(stack) for stack in stacks) * 1.05),
            y_format=lambda value: f"{value:g} s",
            x_label="training step",
            x_ticks=[i + 0.5 for i in thin(len(chunks), 4 if width < 400 else 7)],
            x_format=lambda value: str(chunks[int(value)][0].step),
            title="Seconds a step by activity",
        )
        for i, (chunk, stack) in enumerate(zip(chunks, stacks, strict=True)):
            when = f"step {chunk[0].step}"
            if len(chunk) > 1:
                when = f"steps {chunk[0].step} to {chunk[-1].step}, mean"
            base = 0.0
            for (_, name, style), value in zip(_ACTIVITIES, stack, strict=True):
                text = f"{when}\n{name} {seconds(value)} of {seconds(sum(stack))}"
                plot.bar(i + 0.08, i + 0.92, base, base + value, style, text)
                base += value
        return plot

    return draw


def faults(runs: Sequence[RunRecords]) -> str:
    """Return a table of faults by cause, in training and in evaluation."""
    training: dict[str, int] = {}
    evaluation: dict[str, int] = {}
    for run in runs:
        for step in run.steps:
            _add(training, step.faults)
        for row in run.evals:
            _add(evaluation, row.faults)
    scored = sum(s.scored for run in runs for s in run.steps)
    scored += sum(e.scored for run in runs for e in run.evals)
    causes = sorted(set(training) | set(evaluation), key=lambda c: -training.get(c, 0))
    if not causes:
        return (
            f'<p class="say good">No episode faulted; all {scored} were scored.</p>'
            '<p class="empty">A fault is an episode without an outcome: a verifier away, a time '
            "limit of the machine, a model server down. It is never counted as 0.</p>"
        )
    most = max(training.get(c, 0) + evaluation.get(c, 0) for c in causes)
    rows = "".join(
        f'<tr><th scope="row">{escape(cause)}</th><td>{training.get(cause, 0)}</td>'
        f"<td>{evaluation.get(cause, 0)}</td>"
        f"<td>{_meter((training.get(cause, 0) + evaluation.get(cause, 0)) / most)}</td></tr>"
        for cause in causes
    )
    lost = sum(training.values()) + sum(evaluation.values())
    return (
        f'<p class="say">{lost} episodes faulted beside {scored} that were scored. A fault is never a '
        "reward: those episodes are left out of every statistic.</p>"
        '<table class="figures"><thead><tr><th>cause</th><th>training</th><th>evaluation</th>'
        f"<th></th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _add(sums: dict[str, int], counts: dict[str, int]) -> None:
    for cause, n in counts.items():
        if n > 0:
            sums[cause] = sums.get(cause, 0) + n


def _meter(share: float) -> str:
    return (
        '<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar s8" width="{max(1.0, 100 * share):.1f}" height="8"/></svg>'
    )
