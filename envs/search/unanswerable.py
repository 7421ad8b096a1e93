"""`search/unanswerable`: some of the facts that are asked for are not known, and the right reply is to say so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

from verigym.envs.search.chains import Chain, answer_by_page, begin, wander
from verigym.envs.search.draws import Draws
from verigym.envs.search.pages import figure_text
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.schema import FIGURES, LINKS, Figure, Link
from verigym.envs.search.world import NONE, World

_PAGES = {"easy": 1, "medium": 2, "hard": 3}
_PARTS = 3
# How many of the three are not known, in twelve questions: none and all of them once each, so that saying
# "unknown" always, or never, is paid in one question of twelve, and one or two known say little of the third.
_LACKS = (0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3)
# Facts that some pages lack. Which one is asked for is drawn whether it is known or not, so that the words
# of a question betray nothing.
_LACKING: dict[str, Link | Figure] = {
    **{name: LINKS[name] for name in ("spouse", "teacher", "alma_mater")},
    "river": FIGURES["river"],
}
_UNKNOWN = "unknown"


class Unanswerable(Searching):
    """Three chains of one to three pages each; the last page of some lacks the fact that is asked of it.

    Then its answer is "unknown", with the same citations as an answer would need; all three must be right.
    """

    id: ClassVar[str] = "verigym/search/unanswerable-v0"
    difficulties: ClassVar[tuple[str, ...]] = tuple(_PAGES)
    rules: ClassVar[str] = (
        "A page states all that is known of its subject. Where it lacks the fact that is asked of it, the "
        f'answer is "{_UNKNOWN}"; cite the pages on the way to it, that page included.'
    )

    def pose(self, world: World, draws: Draws, difficulty: str) -> Quest | None:
        """See `Searching`."""
        pages = _PAGES[difficulty]
        unknown = draws.some(range(_PARTS), draws.one(_LACKS))
        chains: list[Chain] = []
        answers: list[Sequence[str]] = []
        met: set[int] = set()
        for part in range(_PARTS):
            name = draws.one(tuple(_LACKING))
            found = None
            while found is None:
                chain = _walk(world, draws, _LACKING[name].subject, pages)
                found = _end(chain, name, part in unknown, pages)
                if not met.isdisjoint(page for _, page in chain.route):
                    found = None
            chains.append(chain)
            answers.append(found)
            met |= {page for _, page in chain.route}
        first, *others = ("; ".join(one) for one in product(*answers))
        asked = "; ".join(f"({n}) {chain.phrase}" for n, chain in enumerate(chains, 1))
        return Quest(
            question=f"Name, in this order: {asked}.",
            answer=first,
            aliases=tuple(others),
            kind="text",
            form='Give the three answers in this order, with "; " between them, each as the page has it.',
            route=[step for chain in chains for step in chain.route],
            support=[group for chain in chains for group in chain.support],
            turns=4 * _PARTS * pages + 6,
            tags=(f"unknown={len(unknown)}", f"pages={_PARTS * pages}"),
        )


def _walk(world: World, draws: Draws, subject: str, pages: int) -> Chain:
    """A chain of so many pages of which the last is of the kind `subject`."""
    while True:
        chain = begin(world, draws, (subject,)) if pages == 1 else begin(world, draws)
        if wander(chain, draws, pages, back=2) and world.kind(chain.at) == subject:
            return chain


def _end(chain: Chain, name: str, lacks: bool, pages: int) -> tuple[str, ...] | None:
    """Asks `name` of the last page; its answer and aliases, or None where it has it and should not, or has
    not."""
    world = chain.world
    if name == "river":
        known = bool(figure_text(world, name, world.number(chain.at)))
    else:
        known = world.link(name, chain.at) != NONE
    if known == lacks:
        return None
    found: tuple[str, ...] | None = None
    if lacks:
        found = (_UNKNOWN,) if chain.ask(_LACKING[name].phrase) else None
    elif name == "river":
        told = chain.tell(name)
        found = (told,) if told else None
    elif chain.follow(name):
        title, aliases = answer_by_page(world, chain.at)
        found = (title, *aliases)
    return found if len(chain.route) == pages else None
