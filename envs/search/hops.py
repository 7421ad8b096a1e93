"""`search/hops`: chains of one to six pages; at the highest levels some links lead to the one of all pupils
of a school who is first or last by some figure."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.annals import AnnalsWorld
from verigym.envs.search.chains import (
    FIGURES_OF,
    FORMS,
    LINKS_OF,
    Chain,
    begin,
    finish,
    question_for,
    wander,
)
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.ranking import MARK_RULES, RANKED, ranked
from verigym.envs.search.reading import Quest, Searching, turns_for
from verigym.envs.search.rolls import CITE_ROLL, PUPIL_FIGURES, ROLL_RULES, branch
from verigym.envs.search.schema import FIGURES
from verigym.envs.search.world import SearchWorld

_PAGES = {1: (1, 1), 2: (2, 2), 3: (2, 3), 4: (3, 4), 5: (4, 5), 6: (5, 6)}
"""Least and greatest number of pages of a chain, by level."""
_BRANCHES = {
    7: ("born",),
    8: ("born", "linked"),
    9: ("linked", "born", "linked"),
    10: ("linked", "born", "linked", "linked"),
}
"""Comparisons on the way, by level: by a figure on the pupils' own pages, or behind a link of each."""


class Hops(Searching):
    """Follow a chain of links, some of them backwards, and cite every page of it. From level 7 on the chain goes
    through schools, from each to one of its pupils, who is found by comparing them all."""

    id: ClassVar[str] = "verigym/search/hops-v0"
    corrected: ClassVar[tuple[int, ...]] = RANKED
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        if isinstance(world, AnnalsWorld):
            return _branching(world, draws, level)
        least, most = _PAGES[level]
        pages = least + draws.below(most - least + 1)
        chain = begin(world, draws)
        if not wander(chain, draws, pages, back=3):
            return None
        return finish(chain, draws, pages, turns=4 * pages + 6)


def _branching(world: AnnalsWorld, draws: BlockDraws, level: int) -> Quest | None:
    chain = begin(world, draws, ("firm", "work", "event"))
    chain.sentences = []
    chain.follow({"firm": "founder", "work": "author", "event": "host"}[world.kind(chain.at)])
    for place, kind in enumerate(_BRANCHES[level]):
        if place and not _to_another(chain, draws):
            return None
        by = PUPIL_FIGURES[0] if kind == "born" else draws.one(PUPIL_FIGURES[1:])
        if not chain.follow("alma_mater") or not branch(chain, draws, by):
            return None
    return _ended(chain, draws, level) if level not in RANKED else _ranked(chain, draws, level)


def _to_another(chain: Chain, draws: BlockDraws) -> bool:
    """Go from a person to another, by one link or two; False in a dead end."""
    link = draws.one(("teacher", "spouse", "employer"))
    return chain.follow(link) and (link != "employer" or chain.follow("founder"))


def _ranked(chain: Chain, draws: BlockDraws, level: int) -> Quest | None:
    """End with the pupil at some place of a school's list by marks."""
    if not _to_another(chain, draws) or not chain.follow("alma_mater"):
        return None
    quest = ranked(chain, draws)
    return quest and replace(
        quest,
        turns=turns_for(quest.route, level),
        cited=CITE_ROLL,
        rules=f"{ROLL_RULES} {MARK_RULES}",
        tags=(*quest.tags, f"pages={len(quest.route)}"),
    )


def _ended(chain: Chain, draws: BlockDraws, level: int) -> Quest | None:
    """End with a figure that stands one link further on."""
    if not chain.follow(draws.one(LINKS_OF["person"])):
        return None
    figure = draws.one(FIGURES_OF[chain.world.kind(chain.at)])
    answer = chain.tell(figure)
    if answer is None:
        return None
    form = FIGURES[figure].form
    return Quest(
        question=" ".join([*(chain.sentences or ()), question_for(chain.phrase, form)]),
        answer=answer,
        kind=form,
        form=FORMS[form],
        route=chain.route,
        support=chain.support,
        turns=turns_for(chain.route, level),
        cited=CITE_ROLL,
        rules=ROLL_RULES,
        tags=(f"pages={len(chain.route)}",),
    )
