"""Questions for the best choice among the pupils of schools, no two of whom may share certain facts.

Every pupil's page and the employer's have to be read, and the best choice is then found by search: to take whoever has the
most marks first is never best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verigym.envs.search.annals import AnnalsWorld
from verigym.envs.search.chains import Chain, begin, read_once
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import month_of
from verigym.envs.search.reading import Quest
from verigym.envs.search.rolls import Pupils, read_roll
from verigym.envs.search.world import NONE

FIRST = 10_000
"""Value of a member besides the marks, so that more members are better than more marks."""
CHOSEN = "choice="
"""Heads the tag with the operations that finding the best choice takes."""


@dataclass(frozen=True)
class Candidate:
    """A pupil who may be chosen: marks, and what no other one chosen may have in common."""

    marks: int
    month: int
    occupation: str
    industry: str

    def is_in_conflict(self, other: Candidate) -> bool:
        """Return True if the two share a fact."""
        return (
            self.month == other.month
            or self.occupation == other.occupation
            or self.industry == other.industry
        )


def to_school(world: AnnalsWorld, draws: BlockDraws) -> Chain | None:
    """Return a chain that leads to the school that the head of some page attended; None in a dead end."""
    chain = begin(world, draws, ("firm", "work", "event"))
    chain.follow({"firm": "founder", "work": "author", "event": "host"}[world.kind(chain.at)])
    return chain if chain.follow("alma_mater") else None


def committee(world: AnnalsWorld, draws: BlockDraws, schools: int) -> Quest | None:
    """Return the question for the best choice among the pupils of some schools; None if a simple rule finds it."""
    chains: list[Chain] = []
    while len(chains) < schools:
        chain = to_school(world, draws)
        if chain is not None and chain.at not in (one.at for one in chains):
            chains.append(chain)
    members = [one for chain in chains for one in members_of(world, chain.at)]
    conflicts = in_conflict(members)
    best, operations = best_choice(members, conflicts)
    if best == greedy_choice(members, conflicts):
        return None
    phrases = [chain.phrase for chain in chains]
    if not all(read_roll(chain, _to_read(world, chain.at)) for chain in chains):
        return None
    *most, last = phrases
    pupils = f"of {', of '.join(most)} and of {last} together" if most else f"of {last}"
    return Quest(
        question=f"Take the pupils {pupils}, but for those whose pages name no employer. Choose as many of them as possible "
        "so that no two of those chosen have the same occupation, no two have employers in the same industry, and no two were born in the same "
        "month of whatever years. Of all choices of so many, what is the largest sum of marks that those chosen have?",
        answer=str(best % FIRST),
        kind="number",
        form="",
        route=read_once(step for chain in chains for step in chain.route),
        support=[group for chain in chains for group in chain.support],
        turns=0,
        tags=("committee", f"{CHOSEN}{operations}"),
    )


def members_of(world: AnnalsWorld, school: int) -> list[Candidate]:
    """Return the pupils of a school's page that have an employer."""
    found = []
    for pupil in world.rolls[world.number(school)]:
        employer = world.link("employer", pupil)
        if employer == NONE:
            continue
        person = world.number(pupil)
        found.append(
            Candidate(
                marks=world.marks_of(pupil),
                month=month_of(int(world.figures["born"][person])),
                occupation=world.figures["occupation"][person],
                industry=world.figures["industry"][world.number(employer)],
            )
        )
    return found


def in_conflict(members: Sequence[Candidate]) -> list[int]:
    """Return for each member the others that share a fact with it, as bits."""
    return [
        sum(1 << j for j, two in enumerate(members) if j != i and one.is_in_conflict(two))
        for i, one in enumerate(members)
    ]


def greedy_choice(members: Sequence[Candidate], conflicts: Sequence[int]) -> int:
    """Return the sum, as in `best_choice`, if whoever has the most marks is always taken first."""
    total = taken = 0
    for i in sorted(range(len(members)), key=lambda i: -members[i].marks):
        if not conflicts[i] & taken:
            taken |= 1 << i
            total += FIRST + members[i].marks
    return total


def best_choice(members: Sequence[Candidate], conflicts: Sequence[int]) -> tuple[int, int]:
    """Return the largest sum of marks of as many members without a conflict as possible, with `FIRST` for each of them,
    and the members looked at by the search.

    It goes on with the month in which most would be lost by not taking the best, and gives up where the best of all
    months together could not make up for what has been found.
    """
    marks = [FIRST + one.marks for one in members]
    months: dict[int, list[int]] = {}
    for i in sorted(range(len(members)), key=lambda i: -marks[i]):
        months.setdefault(members[i].month, []).append(i)
    best = operations = 0

    def choose(total: int, left: int, groups: list[list[int]]) -> None:
        nonlocal best, operations
        rest, bound = [], total
        for group in groups:
            operations += len(group)
            if those := [i for i in group if left >> i & 1]:
                rest.append(those)
                bound += marks[those[0]]
        best = max(best, total)
        if bound <= best:
            return
        group = max(rest, key=lambda those: marks[those[0]] - (marks[those[1]] if those[1:] else 0))
        rest.remove(group)
        for i in group:
            choose(total + marks[i], left & ~conflicts[i], rest)
        choose(total, left, rest)

    choose(0, (1 << len(members)) - 1, [*months.values()])
    return best, operations


def _to_read(world: AnnalsWorld, school: int) -> Pupils:
    """Return the pages that say what is needed of the pupils of a school."""
    roll = tuple(world.roll_pages(school))
    pages = [*roll]
    for pupil in world.rolls[world.number(school)]:
        employer = world.link("employer", pupil)
        pages += [*world.read_for_marks(pupil), pupil]
        pages += [] if employer == NONE else [employer]
    return Pupils((), tuple(dict.fromkeys(pages)), roll)
