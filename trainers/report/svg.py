"""A small drawing kit: plots as inline SVG whose colours come from the page's style sheet.

Marks carry classes and no style, since the page's content policy forbids inline styles. A mark with
`data-tip` shows its text on hover, focus or touch (page.js).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

# Each plot is drawn at several widths, and the style sheet shows the one that fits, so that
# text keeps its size on a phone.
WIDTHS = (340, 560, 1080)

Points = Sequence[tuple[float, float]]


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return round values that cover [low, high], steps of 1, 2, 2.5 or 5 times a power of ten."""
    if not high > low:
        return [low]
    raw = (high - low) / max(1, wanted)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def short(value: float, digits: int = 3) -> str:
    """Format a number with at most `digits` significant digits: 12, 0.034, 1.2k, 3.4M, 1.2e-5."""
    size = abs(value)
    if size >= 1e12 or (size and size < 1e-3):
        power = math.floor(math.log10(size))
        return f"{value / 10.0**power:.{digits - 1}g}e{power}"
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            return f"{value / limit:.{digits}g}{unit}"
    return f"{value:.{digits}g}"


def labels(values: Sequence[float], write: Callable[[float], str]) -> list[str]:
    """Return the tick labels; numbers that look alike in three figures get more, up to eight."""
    found = [write(value) for value in values]
    for digits in range(4, 9):
        if write is not short or len(set(found)) == len(values):
            break
        found = [short(value, digits) for value in values]
    return found


def percent(value: float) -> str:
    """Return a share as a percentage without decimals; its sign never wraps to the next line."""
    return f"{100 * value:.0f}\u00a0%"


def seconds(value: float) -> str:
    """Return a duration: 0.42 s, 12 s, 3 min 20 s, 2 h 5 min."""
    if value < 10:
        return f"{value:.2g} s"
    if value < 120:
        return f"{value:.0f} s"
    if value < 7200:
        return f"{int(value) // 60} min {int(value) % 60} s"
    return f"{int(value) // 3600} h {int(value) % 3600 // 60} min"


def tip(text: str) -> str:
    """Return `text` as a `data-tip` attribute."""
    return f'data-tip="{escape(text).replace(chr(10), "&#10;")}"'


@dataclass
class Plot:
    """One plot: set the ranges, add marks from back to front, `render`."""

    width: int
    height: int
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    title: str
    x_label: str = ""
    y_format: Callable[[float], str] = short
    x_format: Callable[[float], str] = short
    y_ticks: Sequence[float] | None = None
    x_ticks: Sequence[float] | None = None
    marks: list[str] = field(default_factory=list)
    left: int = 46
    right: int = 14
    top: int = 10
    bottom: int = 38

    def x(self, value: float) -> float:
        """Return the pixels from the left for a value on the horizontal axis."""
        low, high = self.x_range
        share = (value - low) / (high - low) if high > low else 0.5
        return self.left + share * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Return the pixels from the top for a value on the vertical axis; clipped to the range."""
        low, high = self.y_range
        share = (value - low) / (high - low) if high > low else 0.5
        return self.height - self.bottom - min(1.0, max(0.0, share)) * self._inner

    @property
    def _inner(self) -> float:
        return self.height - self.top - self.bottom

    def _path(self, points: Points) -> str:
        return "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)

    def line(self, points: Points, style: str) -> None:
        """Draw a line through `points`; a single point becomes a dot."""
        if len(points) == 1:
            self.dots(points, style, 3)
        elif points:
            self.marks.append(f'<path class="line {style}" d="M{self._path(points)}"/>')

    def band(self, low: Points, high: Points, style: str) -> None:
        """Draw the area between two lines."""
        if len(low) > 1:
            outline = self._path([*low, *reversed(list(high))])
            self.marks.append(f'<path class="band {style}" d="M{outline}Z"/>')

    def dots(self, points: Points, style: str, radius: float = 2) -> None:
        """Draw small circles."""
        for x, y in points:
            self.marks.append(
                f'<circle class="dot {style}" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius}"/>'
            )

    def whisker(
        self, x: float, y: float, interval: tuple[float, float] | None, style: str, text: str
    ) -> None:
        """Draw a diamond with its interval, which says `text` on hover."""
        px, py = self.x(x), self.y(y)
        bar = ""
        if interval is not None:
            low, high = self.y(interval[0]), self.y(interval[1])
            bar = (
                f'<path class="whisker" d="M{px:.1f} {low:.1f}V{high:.1f}'
                f'M{px - 4:.1f} {low:.1f}h8M{px - 4:.1f} {high:.1f}h8"/>'
            )
        self.marks.append(
            f'<g class="eval {style}" tabindex="0" {tip(text)}>{bar}'
            f'<path class="diamond" d="M{px:.1f} {py - 6:.1f}l6 6l-6 6l-6 -6Z"/></g>'
        )

    def level(self, y: float, style: str, text: str) -> None:
        """Draw a dashed line across, with `text` on it."""
        py = self.y(y)
        self.marks.append(
            f'<path class="level {style}" d="M{self.left} {py:.1f}H{self.width - self.right}"/>'
            f'<text class="note" x="{self.width - self.right}" y="{py - 5:.1f}" '
            f'text-anchor="end">{escape(text)}</text>'
        )

    def bar(self, x0: float, x1: float, y0: float, y1: float, style: str, text: str) -> None:
        """Draw a bar between values, with `text` on hover; a gap of two pixels stays between stacked bars."""
        left, right = self.x(x0), self.x(x1)
        above, below = self.y(y1), self.y(y0)
        if below - above < 0.05:
            return
        self.marks.append(
            f'<rect class="bar {style}" x="{left:.1f}" y="{above:.1f}" '
            f'width="{max(0.8, right - left):.1f}" height="{max(0.6, below - above):.1f}" '
            f"{tip(text)}/>"
        )

    def columns(self, tips: Sequence[tuple[float, str]]) -> None:
        """Draw invisible columns over the plot, one around each x, that say their text on hover."""
        xs = [self.x(x) for x, _ in tips]
        for i, (centre, (_, text)) in enumerate(zip(xs, tips, strict=True)):
            before = (xs[i - 1] + centre) / 2 if i else self.left
            after = (centre + xs[i + 1]) / 2 if i + 1 < len(xs) else self.width - self.right
            self.marks.append(
                f'<rect class="hit" x="{before:.1f}" y="{self.top}" '
                f'width="{max(1.0, after - before):.1f}" height="{self._inner:.1f}" {tip(text)}/>'
            )

    def end_label(self, x: float, y: float, style: str, text: str) -> None:
        """Write `text` in ink just above the last point of a line."""
        self.marks.append(
            f'<text class="end {style}" x="{self.x(x):.1f}" y="{self.y(y) - 8:.1f}" '
            f'text-anchor="end">{escape(text)}</text>'
        )

    def render(self) -> str:
        """Return the SVG element, `title` as its accessible name; ticks across stand at whole numbers."""
        floor = self.height - self.bottom
        parts = [
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.title)}" class="w{self.width}">'
        ]
        small = self.width < 200
        at_y = self.y_ticks if self.y_ticks is not None else ticks(*self.y_range, 2 if small else 4)
        for value, label in zip(at_y, labels(at_y, self.y_format), strict=True):
            py = self.y(value)
            parts.append(
                f'<path class="grid" d="M{self.left} {py:.1f}H{self.width - self.right}"/>'
                f'<text class="tick" x="{self.left - 8}" y="{py + 4:.1f}" '
                f'text-anchor="end">{escape(label)}</text>'
            )
        at_x = self.x_ticks
        if at_x is None:
            # Steps are whole.
            wanted = 2 if small else 4 if self.width < 400 else 8
            at_x = [value for value in ticks(*self.x_range, wanted) if value == round(value)]
        for value, label in zip(at_x, labels(at_x, self.x_format), strict=True):
            parts.append(
                f'<text class="tick" x="{self.x(value):.1f}" y="{floor + 17}" '
                f'text-anchor="middle">{escape(label)}</text>'
            )
        parts.append(
            f'<path class="axis" d="M{self.left} {floor}H{self.width - self.right}"/>'
            f'<text class="name" x="{self.width - self.right}" y="{self.height - 4}" '
            f'text-anchor="end">{escape(self.x_label)}</text>'
        )
        return "".join([*parts, *self.marks, "</svg>"])


def responsive(draw: Callable[[int], Plot], widths: Sequence[int] = WIDTHS[:2]) -> str:
    """Return the plot at each of `widths`; the style sheet shows the one that fits."""
    return f'<div class="plot n{len(widths)}">{"".join(draw(w).render() for w in widths)}</div>'
