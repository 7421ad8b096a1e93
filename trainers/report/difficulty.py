"""Success by difficulty: the first evaluation against the last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from verigym.levels import NAMES
from verigym.trainers.report.learning import SHARE_TICKS, legend
from verigym.trainers.report.read import LevelSuccess, RunRecords, StepRow
from verigym.trainers.report.stats import interval
from verigym.trainers.report.svg import Plot, percent, responsive, tip

_RANK = {**NAMES, "trivial": 1, "expert": 11, "extreme": 12}
"""Places of names among the levels."""
_LAST = 13


@dataclass(frozen=True)
class _Point:
    """Success by difficulty at one time."""

    when: str
    levels: dict[str, LevelSuccess]


def difficulty_order(names: Iterable[str]) -> list[str]:
    """Return the labels from easy to hard where the names say so; otherwise by the numbers in them, then by
    alphabet."""

    def rank(name: str) -> tuple[int, float, str]:
        if name.isdecimal() and len(name) < 4:
            return int(name), 0.0, name
        number = re.search(r"\d+", name)
        return _RANK.get(name.lower(), _LAST), float(number.group()) if number else 0.0, name

    return sorted(set(names), key=rank)


def by_difficulty(run: RunRecords) -> str:
    """Return the legend and rows of the first and last evaluation; of training steps where none was made."""
    points = _from_evals(run) or _from_steps(run.steps)
    if not points:
        return '<p class="empty">No success by difficulty was recorded.</p>'
    names = difficulty_order(name for point in points for name in point.levels)
    styles = ("early", "late") if len(points) == 2 else ("late",)

    def draw(width: int) -> Plot:
        plot = Plot(
            width=width,
            height=40 + 46 * len(names),
            x_range=(0.0, 1.0),
            y_range=(0.0, float(len(names))),
            y_ticks=(),
            x_ticks=SHARE_TICKS,
            x_format=percent,
            left=92,
            right=24,
            bottom=30,
            title="Success by difficulty",
        )
        for i, name in enumerate(names):
            middle = len(names) - i - 0.5
            shown = name if len(name) <= 12 else name[:11] + "…"
            plot.marks.append(
                f'<text class="row" x="{plot.left - 12}" y="{plot.y(middle) + 4:.1f}" '
                f'text-anchor="end">{escape(shown)}</text>'
            )
            for point, style in zip(points, styles, strict=True):
                offset = 0.0 if len(points) == 1 else (0.14 if style == "early" else -0.14)
                _mark(plot, name, middle + offset, point, style)
        return plot

    entries = [
        ("dot", f"s1 {style}", point.when) for point, style in zip(points, styles, strict=True)
    ]
    return legend([*entries, ("line", "s1 thin", "95 % interval")]) + responsive(draw)


def _from_evals(run: RunRecords) -> list[_Point]:
    rows = [e for e in run.evals if e.by_difficulty]
    if not rows:
        return []
    split = "test" if any(e.split == "test" for e in rows) else rows[-1].split
    rows = [e for e in rows if e.split == split]
    ends = [rows[0], rows[-1]] if len(rows) > 1 else rows
    return [_Point(f"step {e.step}, evaluation on {split}", e.by_difficulty) for e in ends]


def _from_steps(steps: Sequence[StepRow]) -> list[_Point]:
    measured = [s for s in steps if s.by_difficulty]
    if not measured:
        return []
    window = max(1, len(measured) // 5)
    if len(measured) < 2 * window + 1:
        return [_Point("training", _pooled(measured))]
    return [
        _Point(f"first {window} training steps", _pooled(measured[:window])),
        _Point(f"last {window} training steps", _pooled(measured[-window:])),
    ]


def _pooled(steps: Sequence[StepRow]) -> dict[str, LevelSuccess]:
    sums: dict[str, tuple[float, int]] = {}
    for step in steps:
        for name, level in step.by_difficulty.items():
            if level.success_rate is not None:
                wins, n = sums.get(name, (0.0, 0))
                sums[name] = wins + level.n * level.success_rate, n + level.n
    return {name: LevelSuccess(n=n, success_rate=wins / n) for name, (wins, n) in sums.items() if n}


def _mark(plot: Plot, name: str, y: float, point: _Point, style: str) -> None:
    level = point.levels.get(name)
    if level is None or level.success_rate is None:
        return
    low, high = interval(level.success_rate, level.n)
    py = plot.y(y)
    text = (
        f"{name}, {point.when}\n{percent(level.success_rate)} of {level.n} episodes"
        f"\n95 % interval {percent(low)} to {percent(high)}"
    )
    plot.marks.append(
        f'<g class="level-row s1 {style}" tabindex="0" {tip(text)}>'
        f'<path class="whisker" d="M{plot.x(low):.1f} {py:.1f}H{plot.x(high):.1f}"/>'
        f'<circle class="dot" cx="{plot.x(level.success_rate):.1f}" cy="{py:.1f}" r="6"/></g>'
    )
