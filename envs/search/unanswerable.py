"""`search/unanswerable`: some of the facts that are asked for are not known, and the right reply is to say so."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.chains import FORMS, answer_by_page, begin, several, wander
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import figure_text
from verigym.envs.search.premises import LACKING, LONG_CHAINS, PREMISE, UNKNOWN, contested
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.world import NONE, SearchWorld

_SIZES = {
    1: (2, 1), 2: (3, 1), 3: (4, 1), 4: (3, 2), 5: (4, 2), 6: (3, 3)
}  # fmt: skip
"""Questions of a task, and pages to each, by level."""
# How many of three are not known, in twelve tasks: none and all of them once each, so that saying
# "unknown" always, or never, is paid in one task of twelve, and one or two known say little of the third.
_LACKS = (0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3)
_OF = 3


class Unanswerable(Searching):
    """Two to four chains of one to three pages each; the last page of some lacks the fact that is asked of it.

    Then its answer is "unknown", with the same citations as an answer would need; all must be right. From level 7 on
    there are more and longer chains, the question says something of each page on the way, and where a page says
    otherwise the answer is "contradicted" (see `premises`).
    """

    id: ClassVar[str] = "verigym/search/unanswerable-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    rules: ClassVar[str] = (
        "A page states everything that is known about its subject. If the page that should state the answer to a "
        f'question does not, the answer is "{UNKNOWN}"; cite the same pages as if it did.'
    )

    @override
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        if level in LONG_CHAINS:
            return contested(world, draws, level)
        parts, pages = _SIZES[level]
        unknown = draws.some(range(parts), round(draws.one(_LACKS) * parts / _OF))
        names = [draws.one(tuple(LACKING)) for _ in range(parts)]

        def part(n: int) -> Quest | None:
            return _part(world, draws, names[n], n in unknown, pages)

        quest = several(parts, part)
        return replace(quest, tags=(*quest.tags, f"unknown={len(unknown)}"))

    @override
    def put_together(self) -> tuple[str, int]:
        """Compare what the question says of pages with the pages, and write the answers down."""
        reply, operations = super().put_together()
        for _ in PREMISE.finditer(self.task.prompt):
            operations += 1
        return reply, operations


def _part(
    world: SearchWorld, draws: BlockDraws, name: str, lacks: bool, pages: int
) -> Quest | None:
    """A question that asks `name` of the last page of a chain; None if it has it and should not, or has
    not."""
    subject = LACKING[name].subject
    chain = begin(world, draws, (subject,)) if pages == 1 else begin(world, draws)
    if not wander(chain, draws, pages, back=2) or world.kind(chain.at) != subject:
        return None
    if name == "river":
        known = bool(figure_text(world, name, world.number(chain.at)))
    else:
        known = world.link(name, chain.at) != NONE
    if known == lacks:
        return None
    answer: str | None = None
    aliases: tuple[str, ...] = ()
    if lacks:
        answer = UNKNOWN if chain.ask(LACKING[name].phrase) else None
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
        tags=(f"pages={pages}",),
    )
