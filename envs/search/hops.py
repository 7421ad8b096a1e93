"""`search/hops`: chains of two to six pages."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.chains import begin, finish, wander
from verigym.envs.search.draws import Draws
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.world import World

_PAGES = {2: (2, 2), 4: (3, 4), 6: (5, 6)}


class Hops(Searching):
    """Follow a chain of links, some of them backwards, and cite every page of it."""

    id: ClassVar[str] = "verigym/search/hops-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def pose(self, world: World, draws: Draws, level: int) -> Quest | None:
        least, most = _PAGES[level]
        pages = least + draws.below(most - least + 1)
        chain = begin(world, draws)
        if not wander(chain, draws, pages, back=3):
            return None
        return finish(chain, draws, pages, turns=4 * pages + 6)
