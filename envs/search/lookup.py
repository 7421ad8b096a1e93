"""`search/lookup`: facts that stand on one or two pages."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.annals import HOUSES, AnnalsWorld
from verigym.envs.search.chains import begin, finish, several, wander
from verigym.envs.search.committees import CHOSEN, committee, to_school
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.ranking import MARK_RULES, RANKED, ranked
from verigym.envs.search.reading import Quest, Searching, turns_for
from verigym.envs.search.rolls import CITE_ROLL, PUPIL_FIGURES, ROLL_RULES, gathered
from verigym.envs.search.schema import LINKS
from verigym.envs.search.world import SearchWorld

_WAYS = {
    1: ("named",),
    2: ("named", "named"),
    3: ("named", "found"),
    4: ("found", "found"),
    5: ("found", "through"),
    6: ("through",) * 2,
}
"""Facts of a task by level, and how the page of each is come by."""
_ROLLS = {7: (2, 1), 8: (1, 1), 9: (1, 1), 10: (1, 1)}
"""Figures about the pupils of a school, by level, and how many of them stand behind a link of each pupil."""
_SCHOOLS = {8: 2, 9: 3, 10: 4}
"""Schools among whose pupils the best choice is to be found, by level."""


class Lookup(Searching):
    """Find one or two facts: on a page that is named, on one that has to be found, or by way of another. From level
    7 on they are numbers of the pupils of a school, or sums of their marks, on some side of a bound; from level 8 on
    also the best choice of pupils, no two of whom may share certain facts."""

    id: ClassVar[str] = "verigym/search/lookup-v0"
    corrected: ClassVar[tuple[int, ...]] = RANKED
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        if isinstance(world, AnnalsWorld):
            return _counts(world, draws, level)
        return several(len(_WAYS[level]), lambda n: _fact(world, draws, _WAYS[level][n]))

    @override
    def put_together(self) -> tuple[str, int]:
        """Count the steps of the best choice as well."""
        answer, operations = super().put_together()
        steps = [tag.removeprefix(CHOSEN) for tag in self.task.tags if tag.startswith(CHOSEN)]
        return answer, operations + sum(map(int, steps))


def _counts(world: AnnalsWorld, draws: BlockDraws, level: int) -> Quest:
    count, linked = _ROLLS[level]
    schools = _SCHOOLS.get(level, 0)

    def pose(n: int) -> Quest | None:
        if n == 0 and schools:
            return committee(world, draws, schools)
        if n == count + (schools > 0):
            chain = to_school(world, draws)
            return ranked(chain, draws) if chain else None
        return _count(world, draws, n - (schools > 0) < linked)

    parts = count + (schools > 0) + (level in RANKED)
    quest = several(parts, pose, overlap=True)
    rules = f"{ROLL_RULES} {MARK_RULES}" if level in RANKED else ROLL_RULES
    return replace(quest, cited=CITE_ROLL, rules=rules, turns=turns_for(quest.route, level))


def _count(world: AnnalsWorld, draws: BlockDraws, linked: bool) -> Quest | None:
    """Return a question about the pupils of the school that the head of some page attended."""
    chain = to_school(world, draws)
    if chain is None:
        return None
    by = draws.one(PUPIL_FIGURES[1:]) if linked else PUPIL_FIGURES[0]
    asked = gathered(chain, draws, by, None if linked else draws.below(len(HOUSES)))
    if asked is None:
        return None
    question, answer = asked
    return Quest(
        question=question,
        answer=answer,
        kind="number",
        form="",
        route=chain.route,
        support=chain.support,
        turns=0,
        tags=(by.figure,),
    )


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
