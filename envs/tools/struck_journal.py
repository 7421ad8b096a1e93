"""A journal from which some entries are to be struck out, so that the trader ends with as much as possible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from verigym.envs.tools.almanac import Almanac, AlmanacQuestion, Page
from verigym.envs.tools.journal import (
    CORRECTIONS,
    Entry,
    EntryStyle,
    Figures,
    TraderStore,
    draw_entries,
    draw_figures,
    numbered,
)
from verigym.envs.tools.read_strikes import Choices, JournalFigures, StrikeReader, who_is

EACH = 40
"""Euros that a crate in store counts in the end."""
_STYLE = EntryStyle(("buy", "buy", "buy", "sell", "sell", "carry", "toll", "toll"))
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
"""Words for how many entries are struck out."""
_PURSE = (1200, 3200)
"""Euros to begin with, least and most: so few that whatever is struck out decides what can be paid for later."""
_WORDS = (
    """\
A trader starts with an empty store and {purse} euros in the purse, and keeps this journal. Exactly {k} of its {n} \
entries are to be struck out, any that you choose; the others are done, entry by entry, in their order, and each by what \
purse and store hold then. Choose so that the euros in the purse in the end, plus {each} for each crate in store, come to as \
much as possible. To how many euros do they come?
"""
    + CORRECTIONS
)


_WILD = EntryStyle(
    ("buy", "buy", "rest", "sell", "sell", "sell", "carry", "toll", "divide", "divide", "divide"),
    crates=(4, 14),
    kilograms=(150, 600),
    firms=8,
)
_DEEP = 0.02
"""Share of all choices that have to look as good as the best, by what each entry brings if struck out alone, at least."""


def struck_journal(a: Almanac, n: int) -> AlmanacQuestion:
    """Ask for the most that is left after `n` entries without one of them; adds pages to the almanac until corrections and
    withdrawals count."""
    pages = a.pages
    while True:
        drawn = _draw(a, pages, n, _STYLE)
        if drawn is None:
            continue
        journal, others, lines = drawn
        answer = journal.most()
        if all(other.most() != answer for other in others):
            return _question(a, journal.purse, 1, lines, answer)


def wild_journal(a: Almanac, n: int, k: int) -> AlmanacQuestion:
    """Ask for the most that is left after `n` entries without `k` of them, where many entries go by remainders.

    Drawn until corrections and withdrawals count, exactly one choice is best, and it is neither the `k` entries that bring
    most if each is struck out alone, nor those found by striking out the best one after the other, nor what either becomes
    by exchanging one place for another as long as that brings more; nor among the few that look best by what each of
    their entries brings alone.
    """
    pages = a.pages
    while True:
        drawn = _draw(a, pages, n, _WILD)
        if drawn is None:
            continue
        journal, others, lines = drawn
        known = max(journal.exchanged(some) for some in (journal.alone(k), journal.greedy(k)))
        found = _choices(a, lines, journal, k)
        answer = int(found.left.max())
        best = found.masks[found.left == answer]
        if len(best) > 1 or known >= answer:
            continue
        looks = np.zeros(len(found.masks), dtype=np.int64)
        for place in range(n):
            looks += (found.masks >> place & 1) * (journal.left([place]) - journal.left([]))
        if (looks >= looks[found.masks == best[0]]).mean() < _DEEP:
            continue
        if all(_choices(a, lines, other, k).left.max() != answer for other in others):
            return _question(a, journal.purse, k, lines, answer)


def _draw(
    a: Almanac, pages: list[Page], n: int, style: EntryStyle
) -> tuple[StruckJournal, list[StruckJournal], list[str]] | None:
    """Draw a journal, the same for who overlooks withdrawals or corrections, and its lines; None if it is too short."""
    a.pages = list(pages)
    given, corrected, held = draw_figures(a)
    _, lines, entries = draw_entries(a, 3 * n, style)
    purse = a.draws.between(*_PURSE)
    places = _acting(TraderStore(purse, held), entries)[:n]
    if len(places) < n:
        return None
    entries = [entries[i] for i in places]
    others = [StruckJournal(purse, figures, entries) for figures in (given, corrected)]
    return StruckJournal(purse, held, entries), others, [lines[i] for i in places]


def _question(a: Almanac, purse: int, k: int, lines: list[str], answer: int) -> AlmanacQuestion:
    a.pages = a.draws.shuffled(a.pages)
    words = _WORDS.format(purse=purse, k=NUMBERS[k], n=len(lines), each=EACH)
    return AlmanacQuestion(words + numbered(lines), answer, 12 * len(lines))


def _choices(a: Almanac, lines: list[str], journal: StruckJournal, k: int) -> Choices:
    """Return all choices of a journal, with its figures."""
    pages, carriers = dict(a.pages), {one.name: one for one in a.carriers}
    figures = journal.figures

    def held(title: str, what: str) -> int:
        return figures[title, what]

    def figure(carrier: str, what: str) -> int:
        one = carriers[carrier]
        return one.percent if what == "percent" else one.crates

    reader = StrikeReader(lines, JournalFigures(held, figure, partial(who_is, pages.get)))
    return reader.choices(journal.purse, k, EACH)


def _acting(store: TraderStore, entries: Sequence[Entry]) -> list[int]:
    """Return the places of the entries that change the store if none is struck out; the others are easily left out."""
    found: list[int] = []
    for place, entry in enumerate(entries):
        before = store.copy()
        entry(store)
        if (store.purse, store.number()) != (before.purse, before.number()):
            found.append(place)
    return found


class StruckJournal:
    """A journal with the figures that someone takes to hold."""

    def __init__(self, purse: int, figures: Figures, entries: Sequence[Entry]) -> None:
        self.purse, self.figures, self.entries = purse, figures, entries

    def left(self, struck: Sequence[int]) -> int:
        """Return what is left without the entries at some places."""
        store = TraderStore(self.purse, self.figures)
        for place, entry in enumerate(self.entries):
            if place not in struck:
                entry(store)
        return store.worth(EACH)

    def alone(self, k: int) -> list[int]:
        """Return the `k` places that bring most if each is struck out alone."""
        return sorted(range(len(self.entries)), key=lambda place: -self.left([place]))[:k]

    def greedy(self, k: int) -> list[int]:
        """Return `k` places, each the best to strike out after the ones before."""
        struck: list[int] = []
        for _ in range(k):
            others = [place for place in range(len(self.entries)) if place not in struck]
            struck.append(max(others, key=lambda place: self.left([*struck, place])))
        return struck

    def exchanged(self, struck: list[int]) -> int:
        """Return what is left in the end if one place is exchanged for the best other as long as that brings more."""
        now = self.left(struck)
        while True:
            others = [
                [*(place for place in struck if place != out), into]
                for out in struck
                for into in range(len(self.entries))
                if into not in struck
            ]
            struck = max(others, key=self.left)
            if self.left(struck) <= now:
                return now
            now = self.left(struck)

    def most(self) -> int:
        """Return the most that is left without one entry."""
        return max(self.left([place]) for place in range(len(self.entries)))
