"""A journal from which some entries are to be struck out, so that the trader ends with as much as possible."""

from __future__ import annotations

from collections.abc import Sequence

from verigym.envs.tools.almanac import Almanac, AlmanacQuestion
from verigym.envs.tools.journal import (
    CORRECTIONS,
    Entry,
    Figures,
    TraderStore,
    draw_entries,
    draw_figures,
    numbered,
)

EACH = 40
"""Euros that a crate in store counts in the end."""
_KINDS = ("buy", "buy", "buy", "sell", "sell", "carry", "toll", "toll")
_PURSE = (1200, 3200)
"""Euros to begin with, least and most: so few that whatever is struck out decides what can be paid for later."""
_NUMBERS = {1: "one", 2: "two", 3: "three"}
_WORDS = (
    """\
A trader starts with an empty store and {purse} euros in the purse, and keeps this journal. Exactly {k} of its {n} \
entries are to be struck out, any that you choose; the others are done, entry by entry, in their order, and each by what \
purse and store hold then. Choose so that the euros in the purse in the end, plus {each} for each crate in store, come to as \
much as possible. To how many euros do they come?
"""
    + CORRECTIONS
)


def struck_journal(a: Almanac, n: int, k: int) -> AlmanacQuestion:
    """Ask for the most that is left after `n` entries without `k` of them; adds pages to the almanac.

    Drawn until corrections and withdrawals count, and until the best `k`, for two or more, are neither those that bring
    most if each is struck out alone, nor those found by striking out the best one after the other, nor, for three, what
    the latter become by exchanging one place for another as long as that brings more.
    """
    pages = a.pages
    while True:
        a.pages = list(pages)
        given, corrected, held = draw_figures(a)
        _, lines, entries = draw_entries(a, 3 * n, _KINDS)
        purse = a.draws.between(*_PURSE)
        places = _acting(TraderStore(purse, held), entries)[:n]
        lines, entries = [lines[i] for i in places], [entries[i] for i in places]
        if len(entries) < n:
            continue
        journal = StruckJournal(purse, held, entries)
        answer = journal.most(k)
        if k > 1 and answer in map(journal.left, (journal.alone(k), journal.greedy(k))):
            continue
        if k > 2 and answer == journal.exchanged(journal.greedy(k)):
            continue
        others = (StruckJournal(purse, figures, entries) for figures in (given, corrected))
        if all(other.most(k) != answer for other in others):
            break
    a.pages = a.draws.shuffled(a.pages)
    words = _WORDS.format(purse=purse, k=_NUMBERS[k], n=n, each=EACH)
    return AlmanacQuestion(words + numbered(lines), answer, 12 * n)


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

    def exchanged(self, struck: Sequence[int]) -> int:
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

    def most(self, k: int) -> int:
        """Return the most that is left without `k` entries: all choices are tried, what they begin with once."""
        return self._most(0, k, TraderStore(self.purse, self.figures))

    def _most(self, place: int, k: int, store: TraderStore) -> int:
        """Return the most from a place on; `store` is used up."""
        found: list[int] = []
        last = len(self.entries) - k
        while k and place < last:
            found.append(self._most(place + 1, k - 1, store.copy()))
            self.entries[place](store)
            place += 1
        for entry in self.entries[place:last]:
            entry(store)
        # What is left to strike out is all that is left.
        return max([*found, store.worth(EACH)])
