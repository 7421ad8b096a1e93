"""Questions for the best choice among the pupils of schools, no two of whom may share certain facts.

Every pupil's page, the employer's and the birthplace's have to be read, and the best choice is then found by search: to take
whoever has the most marks first, or to leave out whoever is in the way of most, is rarely best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verigym.envs.search.annals import AnnalsWorld
from verigym.envs.search.chains import Chain, begin, read_once
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.reading import Quest
from verigym.envs.search.rolls import Pupils, read_roll
from verigym.envs.search.world import NONE

CHOSEN = "choice="
"""Heads the tag with the operations that finding the best choice takes."""


@dataclass(frozen=True)
class Member:
    """A pupil who may be chosen: marks, and what no other one chosen may have in common."""

    marks: int
    facts: tuple[str, int, str]


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
    best, operations = best_choice([one.marks for one in members], conflicts)
    if best == greedy_choice(members, conflicts):
        return None
    phrases = [chain.phrase for chain in chains]
    if not all(read_roll(chain, _to_read(world, chain.at)) for chain in chains):
        return None
    *most, last = phrases
    pupils = f"of {', of '.join(most)} and of {last} together" if most else f"of {last}"
    return Quest(
        question=f"Take the pupils {pupils}, but for those whose pages name no employer. Choose some of them so that no two of "
        "those chosen have the same occupation, no two have employers in the same industry, and the birthplaces of no two "
        "are in the same region. What is the largest sum of marks that those chosen can have?",
        answer=str(best),
        kind="number",
        form="",
        route=read_once(step for chain in chains for step in chain.route),
        support=[group for chain in chains for group in chain.support],
        turns=0,
        tags=("committee", f"{CHOSEN}{operations}"),
    )


def members_of(world: AnnalsWorld, school: int) -> list[Member]:
    """Return the pupils of a school's page that have an employer."""
    found = []
    for pupil in world.rolls[world.number(school)]:
        employer, town = world.link("employer", pupil), world.link("birthplace", pupil)
        if NONE in (employer, town):
            continue
        person = world.number(pupil)
        facts = (
            world.figures["occupation"][person],
            world.link("region", town),
            world.figures["industry"][world.number(employer)],
        )
        found.append(Member(world.marks[person], facts))
    return found


def in_conflict(members: Sequence[Member]) -> list[int]:
    """Return for each member the others that share a fact with it, as bits."""
    return [
        sum(
            1 << j
            for j, two in enumerate(members)
            if j != i and any(a == b for a, b in zip(one.facts, two.facts, strict=True))
        )
        for i, one in enumerate(members)
    ]


def greedy_choice(members: Sequence[Member], conflicts: Sequence[int]) -> int:
    """Return the sum of marks if whoever has the most marks is always taken first."""
    total = taken = 0
    for i in sorted(range(len(members)), key=lambda i: -members[i].marks):
        if not conflicts[i] & taken:
            taken |= 1 << i
            total += members[i].marks
    return total


def best_choice(marks: Sequence[int], conflicts: Sequence[int]) -> tuple[int, int]:
    """Return the largest sum of marks of members without a conflict, and the steps of the search: a member looked at, or
    left out with those in its way."""
    known: dict[int, int] = {0: 0}
    operations = 0

    def best(left: int) -> int:
        nonlocal operations
        if left in known:
            return known[left]
        rest, most, worst = left, -1, -1
        while rest:
            i = (rest & -rest).bit_length() - 1
            rest &= rest - 1
            operations += 1
            near = (conflicts[i] & left).bit_count()
            if near == 0 or (
                near == 1 and marks[i] >= marks[(conflicts[i] & left).bit_length() - 1]
            ):
                # Nobody is in the way, or one with fewer marks: taking this one is never wrong.
                without = left & ~(conflicts[i] | 1 << i)
                known[left] = marks[i] + best(without)
                return known[left]
            if near > most:
                most, worst = near, i
        known[left] = max(
            marks[worst] + best(left & ~(conflicts[worst] | 1 << worst)),
            best(left & ~(1 << worst)),
        )
        return known[left]

    return best((1 << len(marks)) - 1), operations


def _to_read(world: AnnalsWorld, school: int) -> Pupils:
    """Return the pages that say what is needed of the pupils of a school."""
    roll = tuple(world.roll_pages(school))
    pages = [*roll]
    for pupil in world.rolls[world.number(school)]:
        employer, town = world.link("employer", pupil), world.link("birthplace", pupil)
        pages += [pupil] if NONE in (employer, town) else [pupil, employer, town]
    return Pupils((), tuple(dict.fromkeys(pages)), roll)
