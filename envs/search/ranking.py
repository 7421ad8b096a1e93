"""Questions for the pupil at some place of a school's list by marks, many of which errata have corrected: who overlooks
one correction, or that it was withdrawn, mostly finds another pupil."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from verigym.envs.search.chains import FORMS, Chain, answer_by_page
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.errata import CorrectedWorld
from verigym.envs.search.reading import Quest
from verigym.envs.search.rolls import Pupils, read_roll

MARK_RULES = (
    "The marks of a pupil are those on the roll, unless errata have changed them; each part of a roll lists the errata to it, and each "
    "erratum those on itself. An erratum that another one withdraws has no effect, unless that other one is itself without effect. "
    "If several errata that have effect change the marks of one pupil, the one with the latest date counts. Do not cite errata."
)
RANKED = (9, 10)
"""Levels that have such questions."""
_LEAST_ERRATA = 4
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def ranked(chain: Chain, draws: BlockDraws) -> Quest | None:
    """Return the question for the pupil at a place of the school at which a chain stands; None if there is no place at
    which at least half of the errata matter, and who overlooks all errata or all that withdraw some is wrong."""
    world, school = chain.world, chain.at
    assert isinstance(world, CorrectedWorld)
    pupils = world.rolls[world.number(school)]
    errata = [page for pupil in pupils for page in world.errata_on.get(pupil, ())]
    if len(errata) < _LEAST_ERRATA or len(pupils) < 2 * _LEAST_ERRATA:
        return None
    right = in_order(world, school, world.marks_of)
    careless = [in_order(world, school, of) for of in (world.marks_printed, world.marks_by_latest)]
    matter = [0] * len(right)
    for page in errata:
        other = in_order(world, school, partial(world.marks_but_for, mistaken=page))
        for place, pupil in enumerate(right):
            matter[place] += other[place] != pupil
    places = [
        place
        for place, count in enumerate(matter)
        if 2 * count >= len(errata) and right[place] not in (other[place] for other in careless)
    ]
    if not places:
        return None
    place = draws.one(places)
    pupil, phrase = right[place], chain.phrase
    equal = [one for one in pupils if world.marks_of(one) == world.marks_of(pupil)]
    if pupil in chain.met or not read_roll(chain, _to_read(world, school, equal)):
        return None
    answer, aliases = answer_by_page(world, pupil)
    sentences = " ".join(
        [*(chain.sentences or ()), f"Arrange the pupils of {phrase} by their marks"]
    )
    return Quest(
        question=f"{sentences}, the highest first, and those with equal marks by their dates of birth, the earliest first. "
        f"Name the {_ordinal(place + 1)} of them.",
        answer=answer,
        aliases=aliases,
        kind="text",
        form=FORMS["text"],
        route=chain.route,
        support=chain.support,
        turns=0,
        tags=("ranked",),
    )


def in_order(world: CorrectedWorld, school: int, marks_of: Callable[[int], int]) -> list[int]:
    """Return the pupils of a school by the marks that `marks_of` gives, the elder first where they are equal."""
    born = world.figures["born"]
    return sorted(
        world.rolls[world.number(school)],
        key=lambda pupil: (-marks_of(pupil), born[world.number(pupil)], pupil),
    )


def _to_read(world: CorrectedWorld, school: int, equal: list[int]) -> Pupils:
    """Return the pages that say the marks of all pupils of a school, and when those with equal marks were born."""
    roll = tuple(world.roll_pages(school))
    pupils = world.rolls[world.number(school)]
    errata = [page for pupil in pupils for page in world.read_for_marks(pupil)]
    return Pupils((), (*roll, *errata, *(equal if len(equal) > 1 else ())), roll)


def _ordinal(number: int) -> str:
    ending = "th" if number in (11, 12, 13) else _ORDINALS.get(number % 10, "th")
    return f"{number}{ending}"
