"""The training signal: groups without signal, step groups, the optimiser's metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from verigym.trainers.report.learning import SHARE_TICKS, by_label, legend, style_of
from verigym.trainers.report.read import RunRecords, StepRow
from verigym.trainers.report.stats import PooledSuccess, pool, thin, window_for
from verigym.trainers.report.svg import Plot, percent, responsive, short

# Step groups by size; the last bin is open.
_BINS: tuple[tuple[int, float], ...] = (
    (1, 1),
    (2, 2),
    (3, 4),
    (5, 8),
    (9, 16),
    (17, 32),
    (33, float("inf")),
)

# Which figure, its title, its unit.
_OPTIMISER: tuple[tuple[str, str, str], ...] = (
    ("loss", "Loss", ""),
    ("kl", "KL to reference", "nats"),
    ("entropy", "Entropy", "nats"),
    ("clip_share", "Clipped tokens", "share"),
    ("grad_norm", "Gradient norm", ""),
    ("logp_gap_mean", "Mean |gap|", "nats"),
    ("logp_gap_max", "Largest |gap|", "nats"),
    ("turns_mean", "Turns an episode", "mean"),
    ("return_mean", "Return", "mean"),
)


def without_signal(runs: Sequence[RunRecords]) -> str:
    """Return the legend and curve of the share of groups whose members all earned the same."""
    curves = {
        label: [_pooled_share(run) for run in members] for label, members in by_label(runs).items()
    }
    points = [p for members in curves.values() for curve in members for p in curve]
    if not points:
        return '<p class="empty">No groups were recorded.</p>'

    def draw(width: int) -> Plot:
        plot = Plot(
            width=width,
            height=220,
            x_range=(min(p.x for p in points), max(p.x for p in points)),
            y_range=(0.0, 1.0),
            y_ticks=SHARE_TICKS,
            y_format=percent,
            x_label="training step",
            title="Share of groups without signal over training steps",
        )
        for i, members in enumerate(curves.values()):
            for curve in members:
                kept = [curve[k] for k in thin(len(curve), width // 4)]
                if len(runs) == 1:
                    floor = [(p.x, 0.0) for p in kept]
                    plot.band(floor, [(p.x, p.rate) for p in kept], style_of(i))
                plot.line([(p.x, p.rate) for p in kept], style_of(i))
        if len(runs) == 1:
            curve = next(iter(curves.values()))[0]
            plot.columns(
                [
                    (p.x, f"step {p.x:.0f}\n{percent(p.rate)} of {p.n} groups without signal")
                    for p in [curve[k] for k in thin(len(curve), width // 8)]
                ]
            )
        return plot

    entries = [("line", style_of(i), label) for i, label in enumerate(curves)]
    return (legend(entries) if len(curves) > 1 else "") + responsive(draw)


def _pooled_share(run: RunRecords) -> list[PooledSuccess]:
    points: list[tuple[float, float | None, int]] = [
        (
            float(s.step),
            min(1.0, s.groups_without_signal / s.groups) if s.groups else None,
            s.groups,
        )
        for s in run.steps
    ]
    return pool(points, window_for(len(points)))


def step_groups(run: RunRecords) -> str:
    """Return the sentence, legend and histogram of step-group sizes, early against late."""
    steps = [s for s in run.steps if s.step_group_sizes]
    if not steps:
        return '<p class="empty">No step groups were recorded (the algorithm may not form any).</p>'
    third = max(1, len(steps) // 3)
    parts = [("first third", steps[:third]), ("last third", steps[-third:])]
    if len(steps) < 3:
        parts = [("all steps", steps)]
    shares = [(name, _binned(part)) for name, part in parts]
    top = max(max(share) for _, share in shares)

    def draw(width: int) -> Plot:
        plot = Plot(
            width=width,
            height=220,
            x_range=(0.0, float(len(_BINS))),
            y_range=(0.0, top * 1.08),
            y_format=percent,
            x_label="turns in the step group",
            x_ticks=[i + 0.5 for i in range(len(_BINS))],
            x_format=lambda value: _bin_name(int(value)),
            title="Share of turns by the size of their step group",
        )
        for k, (name, share) in enumerate(shares):
            style = "s1 early" if k == 0 and len(shares) > 1 else "s1"
            bar = 0.8 / len(shares)
            for i, value in enumerate(share):
                start = i + 0.1 + k * bar
                text = f"{name} of training\n{percent(value)} of turns in groups of {_bin_name(i)}"
                plot.bar(start, start + bar - 0.04, 0.0, value, style, text)
        return plot

    alone = shares[-1][1][0]
    sentence = (
        f'<p class="say">In the {escape(shares[-1][0])} of training, {percent(alone)} of turns stood '
        "alone in their step group, and so earned no step advantage.</p>"
    )
    keys = [
        ("box", "s1 early" if k == 0 and len(shares) > 1 else "s1", name)
        for k, (name, _) in enumerate(shares)
    ]
    return sentence + legend(keys) + responsive(draw)


def _binned(steps: Sequence[StepRow]) -> list[float]:
    """Share of turns in each bin; `step_group_sizes` counts groups, so a group weighs its size."""
    turns = [0.0] * len(_BINS)
    for step in steps:
        for size, n in step.step_group_sizes.items():
            for i, (low, high) in enumerate(_BINS):
                if low <= size <= high:
                    turns[i] += size * max(0, n)
    total = sum(turns)
    return [value / total if total else 0.0 for value in turns]


def _bin_name(i: int) -> str:
    low, high = _BINS[i]
    if high == float("inf"):
        return f"{low}+"
    return str(low) if low == high else f"{low}–{high:.0f}"


def optimiser(runs: Sequence[RunRecords]) -> str:
    """Return the small plots of the figures that were recorded; one that never was is left out."""
    groups = by_label(runs)
    figures: list[str] = []
    for name, title, unit in _OPTIMISER:
        lines = [
            (style_of(i), line)
            for i, members in enumerate(groups.values())
            for run in members
            if (line := _figure(run, name))
        ]
        if lines:
            caption = f"{title} <small>{escape(unit)}</small>" if unit else title
            last = lines[0][1][-1][1]
            value = f"<b>{escape(short(last))}</b>" if len(lines) == 1 else ""
            figures.append(
                f"<figure><figcaption>{caption}{value}</figcaption>"
                f"{responsive(_small(title, lines), (170, 260))}</figure>"
            )
    if not figures:
        return '<p class="empty">No figures of the optimiser were recorded.</p>'
    keys = [("line", style_of(i), label) for i, label in enumerate(groups)]
    return (legend(keys) if len(keys) > 1 else "") + f'<div class="small">{"".join(figures)}</div>'


def _figure(run: RunRecords, name: str) -> list[tuple[float, float]]:
    return [(float(s.step), value) for s in run.steps if (value := getattr(s, name)) is not None]


def _small(
    title: str, lines: Sequence[tuple[str, list[tuple[float, float]]]]
) -> Callable[[int], Plot]:
    points = [p for _, line in lines for p in line]
    low, high = min(y for _, y in points), max(y for _, y in points)
    if low == high:
        low, high = low - (abs(low) or 1.0) * 0.1, high + (abs(high) or 1.0) * 0.1
    low = 0.0 if 0 <= low < high / 2 else low

    def draw(width: int) -> Plot:
        plot = Plot(
            width=width,
            height=110 if width < 200 else 130,
            x_range=(min(x for x, _ in points), max(x for x, _ in points)),
            y_range=(low, high),
            title=f"{title} over training steps",
            left=52,
            bottom=24,
        )
        for style, line in lines:
            plot.line([line[i] for i in thin(len(line), width // 3)], style)
        if len(lines) == 1:
            kept = [lines[0][1][i] for i in thin(len(lines[0][1]), 60)]
            plot.columns([(x, f"step {x:.0f}\n{title.lower()} {short(y)}") for x, y in kept])
        return plot

    return draw
