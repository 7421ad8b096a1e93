"""Drops rows that others repeat, and rows that a test set holds.

Near duplicates are found by MinHash with locality-sensitive hashing (Broder 1997; the library rensa),
and each pair that it proposes is measured: Jaccard similarity of the sets of five words in a row.
Contamination is a shared run of words, 13 by default as in Brown et al. 2020, appendix C.
Signs count where texts are compared whole: 1 + 2 is not 1 - 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from verigym.errors import ConfigError

_WORD = re.compile(r"\w+")
# A factorial's ! stands directly behind a number or bracket.
_PART = re.compile(r"\w+|(?<=[\d)])!|[^\w\s.,;:!?'\"\u2018-\u201f\u2013\u2014\u2026]")
_SHINGLE = 5
_PERMUTATIONS = 128
_SEED = 7
_MARGIN = 0.25
"""Pairs are proposed from so much below the threshold: the hash only estimates."""


def words(text: str) -> tuple[str, ...]:
    """Return the words that runs are made of: in lower case, without signs and white space."""
    return tuple(_WORD.findall(text.lower()))


def parts_of(text: str) -> tuple[str, ...]:
    """Return the words in small letters, and each sign that is no punctuation of a sentence: 1 + 2 is not 1 - 2."""
    return tuple(_PART.findall(text.lower()))


def duplicates(texts: Sequence[str], near: float) -> dict[int, int]:
    """Return, for each text that repeats an earlier one, both places in `texts`. With `near` 1
    only equal parts count."""
    first: dict[tuple[str, ...], int] = {}
    found: dict[int, int] = {}
    left: list[int] = []
    for place, text in enumerate(texts):
        before = first.setdefault(parts_of(text), place)
        if before != place:
            found[place] = before
        else:
            left.append(place)
    if near < 1 and len(left) > 1:
        found.update(_near([_shingles(texts[place]) for place in left], left, near))
    return found


def _near(sets: Sequence[set[str]], places: Sequence[int], near: float) -> dict[int, int]:
    try:
        from rensa import RMinHash, RMinHashLSH
    except ImportError as error:
        raise ConfigError(
            "near duplicates need an extra: pip install 'verigym[dataset]', or set clean.near = 1"
        ) from error
    index = RMinHashLSH(max(0.1, near - _MARGIN), _PERMUTATIONS, _PERMUTATIONS // 4)
    found: dict[int, int] = {}
    for at, shingles in enumerate(sets):
        sketch = RMinHash(_PERMUTATIONS, _SEED)
        sketch.update(sorted(shingles))
        for other in sorted(index.query(sketch)):
            if _jaccard(shingles, sets[other]) >= near:
                found[places[at]] = places[other]
                break
        else:
            index.insert(at, sketch)
    return found


def _shingles(text: str) -> set[str]:
    parts = parts_of(text)
    return {" ".join(parts[i : i + _SHINGLE]) for i in range(max(1, len(parts) - _SHINGLE + 1))}


def _jaccard(one: set[str], other: set[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


class ForbiddenTexts:
    """Texts that must not be trained on."""

    def __init__(self, texts: Iterable[str], ngram: int) -> None:
        self._ngram = ngram
        self._runs: set[int] = set()
        self._short: set[tuple[str, ...]] = set()
        for text in texts:
            parts = words(text)
            if len(parts) < ngram:
                self._short.add(parts_of(text))
            else:
                self._runs.update(self._hashed(parts))

    def __contains__(self, text: str) -> bool:
        """Return True if `text` shares a run of words with one of them; a text shorter than a run
        is compared as a whole."""
        parts = words(text)
        if len(parts) < self._ngram:
            return parts_of(text) in self._short
        return not self._runs.isdisjoint(self._hashed(parts))

    def _hashed(self, parts: tuple[str, ...]) -> Iterable[int]:
        return (hash(parts[i : i + self._ngram]) for i in range(len(parts) - self._ngram + 1))
