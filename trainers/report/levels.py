"""Plot of the success of policies by level, as one SVG file that needs no style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from verigym.trainers.report.svg import Plot, percent, short

_WIDTH, _PLOT, _LINE = 760, 380, 20
_COLOURS = (
    *("#2a78d6", "#d9541f", "#159a6f", "#d99100", "#d9578f"),
    *("#5a48c0", "#d63a39", "#008300", "#7a4a1e", "#00808a"),
)
_STYLE = (
    "svg{background:#fdfdfc}text{font:12px system-ui,sans-serif;fill:#52514e}text.title{font-size:15px;fill:#10100e}"
    ".grid{stroke:#eae9e4}.axis{stroke:#bdbbb3}.line{fill:none;stroke-width:2}.band{opacity:.16}"
    ".thin{stroke-width:1.25;stroke-dasharray:5 3}"
)


@dataclass(frozen=True)
class Curve:
    """Success of one policy: level, mean, and both ends of the interval.

    One that `is_thin` is dashed and has no band.
    """

    name: str
    points: Sequence[tuple[int, float, float, float]]
    is_thin: bool = False


def draw_levels(
    title: str, operations: Sequence[tuple[int, float]], curves: Sequence[Curve]
) -> str:
    """Return the SVG file; below each level stand the operations that it takes."""
    levels = [level for level, _ in operations]
    plot = Plot(
        width=_WIDTH,
        height=_PLOT,
        x_range=(levels[0], levels[-1]),
        y_range=(0.0, 1.0),
        title=title,
        y_format=percent,
        x_ticks=levels,
        left=96,
        right=28,
        top=40,
        bottom=56,
    )
    for number, curve in enumerate(curves):
        style = _style(number, curve)
        if not curve.is_thin:
            plot.band(
                [(level, low) for level, _, low, _ in curve.points],
                [(level, high) for level, _, _, high in curve.points],
                style,
            )
        points = [(level, mean) for level, mean, _, _ in curve.points]
        plot.line(points, style)
        plot.dots(points, style)
    notes = [
        f'<text class="title" x="14" y="22">{escape(title)}</text>',
        f'<text x="14" y="{_PLOT - 39}">level</text>',
        f'<text x="14" y="{_PLOT - 20}">operations</text>',
        *(
            f'<text x="{plot.x(level):.1f}" y="{_PLOT - 20}" text-anchor="middle">{short(count)}</text>'
            for level, count in operations
        ),
        *_legend(curves),
    ]
    height = _PLOT + _LINE * -(-len(curves) // 3)
    body = plot.render().partition(">")[2].removesuffix("</svg>")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}"><style>{_STYLE}{_colours()}</style>{body}{"".join(notes)}</svg>\n'
    )


def _legend(curves: Sequence[Curve]) -> list[str]:
    """Return a line and a name for each curve, three a row."""
    entries = []
    for number, curve in enumerate(curves):
        x, y = 14 + number % 3 * (_WIDTH // 3), _PLOT + number // 3 * _LINE
        style = _style(number, curve)
        entries.append(
            f'<path class="line {style}" d="M{x} {y}h22"/><text x="{x + 28}" y="{y + 4}">{escape(curve.name)}</text>'
        )
    return entries


def _style(number: int, curve: Curve) -> str:
    return f"s{number % len(_COLOURS)}" + (" thin" if curve.is_thin else "")


def _colours() -> str:
    return "".join(
        f".line.s{n}{{stroke:{colour}}}.band.s{n},.dot.s{n}{{fill:{colour}}}"
        for n, colour in enumerate(_COLOURS)
    )
