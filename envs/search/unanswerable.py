"""`search/unanswerable`: some questions have no answer, and the right reply is to say so."""

from __future__ import annotations

from typing import ClassVar

from verigym.envs.search.chains import FORMS, Chain, answer_by_page, begin, wander
from verigym.envs.search.draws import Draws
from verigym.envs.search.pages import figure_text
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.schema import FIGURES, LINKS, Figure, Link
from verigym.envs.search.world import NONE, World

_PAGES = {"easy": (1, 1), "medium": (2, 2), "hard": (3, 4)}
# Facts that some pages lack. Every question ends with one of them, drawn before it is decided whether
# there is an answer, so that the words of a question betray nothing.
_LACKING: dict[str, Link | Figure] = {
    **{name: LINKS[name] for name in ("spouse", "teacher", "alma_mater")},
    "river": FIGURES["river"],
}
_UNKNOWN = "unknown"


class Unanswerable(Searching):
    """Chains of one to four pages; in a quarter of them the last page lacks the fact that is asked of it.

    Then the answer is "unknown", with the same citations as an answer would need: who always says so earns
    that quarter at most, and only by finding the pages.
    """

    id: ClassVar[str] = "verigym/search/unanswerable-v0"
    difficulties: ClassVar[tuple[str, ...]] = tuple(_PAGES)
    rules: ClassVar[str] = (
        "A page states all that is known of its subject. If it lacks the fact that is asked of it, answer "
        f'"{_UNKNOWN}" and cite the pages on the way to it, that page included.'
    )

    def pose(self, world: World, draws: Draws, difficulty: str) -> Quest | None:
        """See `Searching`."""
        least, most = _PAGES[difficulty]
        pages = least + draws.below(most - least + 1)
        lacks, name = draws.below(4) == 0, draws.one(tuple(_LACKING))
        subject = _LACKING[name].subject
        while True:
            chain = begin(world, draws, (subject,)) if pages == 1 else begin(world, draws)
            if not wander(chain, draws, pages, back=2) or world.kind(chain.at) != subject:
                continue
            quest = _end(chain, name, lacks, pages)
            if quest is not None:
                return quest


def _end(chain: Chain, name: str, lacks: bool, pages: int) -> Quest | None:
    """The question that asks `name` of the last page; None where it has it and should not, or has not."""
    world = chain.world
    answer: str | None = None
    aliases: tuple[str, ...] = ()
    if name == "river":
        known = bool(figure_text(world, name, world.number(chain.at)))
    else:
        known = world.link(name, chain.at) != NONE
    if known == lacks:
        return None
    if lacks:
        answer = _UNKNOWN if chain.ask(_LACKING[name].phrase) else None
    elif name == "river":
        answer = chain.tell(name)
    elif chain.follow(name):
        answer, aliases = answer_by_page(world, chain.at)
    if not answer or len(chain.route) != pages:
        return None
    return Quest(
        question=f"Name {chain.phrase}.",
        answer=answer,
        aliases=aliases,
        kind="text",
        form=FORMS["text"],
        route=chain.route,
        support=chain.support,
        turns=4 * pages + 6,
        tags=("unanswerable" if lacks else "answerable", f"pages={pages}"),
    )
