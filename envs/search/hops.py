"""`search/hops`: chains of one to twenty pages."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.chains import begin, finish, wander
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.world import SearchWorld

_PAGES = {
    1: (1, 1), 2: (2, 2), 3: (2, 3), 4: (3, 4), 5: (4, 5),
    6: (5, 6), 7: (7, 8), 8: (10, 11), 9: (14, 15), 10: (20, 20),
}  # fmt: skip
"""Least and greatest number of pages of a chain, by level."""
_NESTED = 6
"""Most pages that one phrase leads through; of a longer chain each page has a sentence."""


class Hops(Searching):
    """Follow a chain of links, some of them backwards, and cite every page of it."""

    id: ClassVar[str] = "verigym/search/hops-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        least, most = _PAGES[level]
        pages = least + draws.below(most - least + 1)
        chain = begin(world, draws)
        if pages > _NESTED:
            chain.sentences = []
        if not wander(chain, draws, pages, back=3):
            return None
        return finish(chain, draws, pages, turns=4 * pages + 6)
