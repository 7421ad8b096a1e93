"""`search/lookup`: facts that stand on one or two pages."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.chains import begin, finish, several, wander
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.schema import LINKS
from verigym.envs.search.world import SearchWorld

_WAYS = {
    1: ("named",),
    2: ("named", "named"),
    3: ("named", "found"),
    4: ("found", "found"),
    5: ("found", "through"),
    6: ("through",) * 2,
    7: ("through",) * 3,
    8: ("through",) * 6,
    9: ("through",) * 10,
    10: ("through",) * 16,
}
"""Facts of a task by level, and how the page of each is come by."""


class Lookup(Searching):
    """Find one to sixteen facts: on a page that is named, on one that has to be found, or by way of another."""

    id: ClassVar[str] = "verigym/search/lookup-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        return several(len(_WAYS[level]), lambda n: _fact(world, draws, _WAYS[level][n]))


def _fact(world: SearchWorld, draws: BlockDraws, way: str) -> Quest | None:
    pages = 2 if way == "through" else 1
    chain = begin(world, draws)
    if way == "found":
        kind = world.kind(chain.at)
        names = [n for n, link in LINKS.items() if link.inverse and link.target == kind]
        if not names or not chain.turn_back(draws.one(names)):
            return None
    elif not wander(chain, draws, pages, back=2):
        return None
    return finish(chain, draws, pages, turns=4 * pages + 6)
