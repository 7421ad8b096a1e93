"""Reads points with what they are: "(2, -3), local minimum", "saddle point at (0, 0), minimum at (1, 1)"."""

from __future__ import annotations

import re

from verigym.verifiers.math.patterns import lazy_pattern

_POINT = lazy_pattern(r"\([^()]{1,40},[^()]{1,40}\)")
_KIND = lazy_pattern(
    r"\b(?:(?:local|global|absolute|relative|strict|\((?:global|local|absolute)\)) )*(?P<kind>min|max|saddle|inflection)(?:imum|imal|ima|\b)",
    re.IGNORECASE,
)
_DOUBTS = lazy_pattern(
    r"\b(?:not|neither|nor|or|maybe|perhaps|might|may|could|if|unless|either|probably|possibly)\b|n't\b",
    re.IGNORECASE,
    needs="could|either|if|may|might|n't|not|or|perhaps|possibly|probably|unless",
)


def classified(text: str) -> list[tuple[str, str]] | None:
    """Each point of a text with its kind; None if it does not tell them, or is in doubt."""
    plain = re.sub(r"\\(?:left|right|text|mathrm|,)|[${}]|\\[()]", " ", text)
    points = list(_POINT.finditer(plain))
    kinds = list(_KIND.finditer(plain))
    if not points or len(kinds) != len(points) or len(plain) > 400 or _DOUBTS.search(plain):
        return None
    first = points[0].start() < kinds[0].start()
    for k, (point, kind) in enumerate(zip(points, kinds, strict=True)):
        if (point.start() < kind.start()) != first:
            return None
        if k and (points[k - 1].start() > kind.start() or kinds[k - 1].start() > point.start()):
            return None
    return [(point[0], kind["kind"].lower()) for point, kind in zip(points, kinds, strict=True)]
