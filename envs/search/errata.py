"""The made-up world with its annals and errata to the marks on its rolls; errata may be withdrawn by later ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache

import numpy as np
from typing_extensions import override

from verigym.envs.search.annals import AnnalsWorld, build_annals
from verigym.envs.search.world import NONE

_LEAST, _MOST = 11, 99
"""Marks."""
_CORRECTED, _AGAIN, _WITHDRAWN = 0.35, 0.3, 0.45
"""Shares of pupils whose marks are corrected, of those corrected twice, and of errata that are withdrawn."""
_DEPTH = 3


@dataclass(frozen=True)
class Erratum:
    """New marks of a pupil's page, or NONE: then it withdraws the earlier erratum that `about` is the page of."""

    about: int
    dated: int
    marks: int


@dataclass(frozen=True)
class CorrectedWorld(AnnalsWorld):
    """An `AnnalsWorld` with errata, whose pages are the last ones."""

    first_erratum: int
    errata: list[Erratum]

    @override
    def kind(self, page: int) -> str:
        return "erratum" if page >= self.first_erratum else super().kind(page)

    @override
    def number(self, page: int) -> int:
        return page - self.first_erratum if page >= self.first_erratum else super().number(page)

    @cached_property
    def errata_on(self) -> dict[int, list[int]]:
        """Pages of the errata on each page that has any."""
        found: dict[int, list[int]] = {}
        for number, erratum in enumerate(self.errata):
            found.setdefault(erratum.about, []).append(self.first_erratum + number)
        return found

    def has_effect(self, page: int) -> bool:
        """Return True if no erratum that has effect withdraws this one."""
        return not any(map(self.has_effect, self.errata_on.get(page, ())))

    @override
    def read_for_marks(self, pupil: int) -> Iterator[int]:
        for page in self.errata_on.get(pupil, ()):
            yield page
            yield from self.read_for_marks(page)

    @override
    def marks_of(self, pupil: int) -> int:
        return self.marks_but_for(pupil, NONE)

    def marks_printed(self, pupil: int) -> int:
        """Return the marks on the roll, whatever the errata."""
        return super().marks_of(pupil)

    def marks_by_latest(self, pupil: int) -> int:
        """Return the marks by the latest erratum, whether it has effect or not."""
        errata = [self.errata[self.number(page)] for page in self.errata_on.get(pupil, ())]
        if not errata:
            return self.marks_printed(pupil)
        return max(errata, key=lambda one: one.dated).marks

    def marks_but_for(self, pupil: int, mistaken: int) -> int:
        """Return the marks of a pupil for a reader who is wrong about whether one erratum has effect."""
        with_effect = [
            self.errata[self.number(page)]
            for page in self.errata_on.get(pupil, ())
            if self.has_effect(page) != (page == mistaken)
        ]
        if not with_effect:
            return self.marks_printed(pupil)
        return max(with_effect, key=lambda one: one.dated).marks


@lru_cache(maxsize=4)
def build_errata(seed: int, part: int, pages: int) -> CorrectedWorld:
    """Return the world of a seed with its annals and errata. Kept for the process."""
    world = build_annals(seed, part, pages)
    rng = np.random.Generator(np.random.PCG64([seed, part, pages, 2]))
    errata = _errata(rng, world)
    titles = [f"Erratum {number}" for number in range(1, len(errata) + 1)]
    own = {field.name: getattr(world, field.name) for field in fields(AnnalsWorld)}
    return CorrectedWorld(
        **{
            **own,
            "pages": world.pages + len(titles),
            "titles": [*world.titles, *titles],
            "names": [*world.names, *titles],
            "ids": [*world.ids, *(world.pages + rng.permutation(len(titles))).tolist()],
        },
        first_erratum=world.pages,
        errata=errata,
    )


def _errata(rng: np.random.Generator, world: AnnalsWorld) -> list[Erratum]:
    """Return errata to the marks of pupils, mostly from one end of the scale to the other, and what withdraws them."""
    found: list[Erratum] = []
    for pupil in (one for roll in world.rolls for one in roll):
        if rng.random() >= _CORRECTED:
            continue
        dated = int(rng.integers(1951 * 336, 1956 * 336))
        for later in range(1 + (rng.random() < _AGAIN)):
            marks = _LEAST + _MOST - world.marks[world.number(pupil)] + int(rng.integers(-7, 8))
            dated += later * int(rng.integers(1, 600))
            found.append(Erratum(pupil, dated, min(_MOST, max(_LEAST, marks))))
    begin = 0
    for _ in range(_DEPTH):
        end = len(found)
        for number in range(begin, end):
            if rng.random() < _WITHDRAWN:
                dated = found[number].dated + int(rng.integers(5, 900))
                found.append(Erratum(world.pages + number, dated, NONE))
        begin = end
    return _shuffled(rng, world.pages, found)


def _shuffled(rng: np.random.Generator, first: int, errata: list[Erratum]) -> list[Erratum]:
    """Return errata in another order, so that their numbers say nothing."""
    order = rng.permutation(len(errata)).tolist()
    place = {old: new for new, old in enumerate(order)}
    return [
        Erratum(
            first + place[errata[old].about - first]
            if errata[old].marks == NONE
            else errata[old].about,
            errata[old].dated,
            errata[old].marks,
        )
        for old in order
    ]
