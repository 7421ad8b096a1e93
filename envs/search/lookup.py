"""`search/lookup`: facts that stand on one or two pages."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.chains import begin, finish, several, wander
from verigym.envs.search.draws import Draws
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.schema import LINKS
from verigym.envs.search.world import World


class Lookup(Searching):
    """Find two facts: on a page that is named, on one that has to be found, or by way of another."""

    id: ClassVar[str] = "verigym/search/lookup-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    only_named: ClassVar[bool] = True

    @override
    def pose(self, world: World, draws: Draws, level: int) -> Quest | None:
        return several(2, lambda _: _fact(world, draws, level))


def _fact(world: World, draws: Draws, level: int) -> Quest | None:
    pages = 2 if level == 6 else 1
    chain = begin(world, draws)
    if level == 4:
        kind = world.kind(chain.at)
        names = [n for n, link in LINKS.items() if link.inverse and link.target == kind]
        if not names or not chain.turn_back(draws.one(names)):
            return None
    elif not wander(chain, draws, pages, back=2):
        return None
    return finish(chain, draws, pages, turns=4 * pages + 6)
