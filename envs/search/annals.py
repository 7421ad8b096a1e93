"""The made-up world with its annals, for the highest levels: rolls of schools, notices on register entries, and the
code of each region that says which source counts.

The facts are those of `world.py`; these pages come on top of them, with ids of their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np
from typing_extensions import override

from verigym.envs.search.world import NONE, SearchWorld, build_world

ROLL_ROWS = 7
"""Pupils on a page of a roll."""
ANNEXED = ("roll", "notice", "code")
"""Kinds of pages that only the annals have, in their order."""
HOUSES = ("red", "green", "blue")
"""Houses of pupils."""
SEALS = ("parish", "county", "crown")
"""Seals of register entries, the lowest first."""


@dataclass(frozen=True)
class Notice:
    """A notice on a register entry, which it retracts, or on an earlier notice, which it annuls."""

    about: int
    dated: int


@dataclass(frozen=True)
class RegisterCode:
    """A region's rule for sources that disagree: `order` is `latest`, `earliest` or `seal`; `drafts` if drafts
    count; `own` if the page of the subject counts beside entries that do."""

    order: str
    drafts: bool
    own: bool


@dataclass(frozen=True)
class AnnalsWorld(SearchWorld):
    """A `SearchWorld` with more pages. `rolls[s]` are the pupils of the s-th school in the order of its roll;
    `houses` and `marks` are by person, `seals` by register entry, `codes` by region."""

    base: int
    rolls: list[list[int]]
    houses: list[int]
    marks: list[int]
    seals: list[int]
    notices: list[Notice]
    codes: list[RegisterCode]

    @override
    def kind(self, page: int) -> str:
        return super().kind(page) if page < self.base else ANNEXED[self._annexed(page)]

    @override
    def number(self, page: int) -> int:
        return super().number(page) if page < self.base else page - self._from[self._annexed(page)]

    @override
    def count(self, kind: str) -> int:
        return self.base - self.starts[kind] if kind == "record" else super().count(kind)

    def _annexed(self, page: int) -> int:
        return bisect_right(self._from, page) - 1

    @cached_property
    def _from(self) -> list[int]:
        """First page of each annexed kind."""
        rolls = self._parts[-1]
        return [self.base, self.base + rolls, self.base + rolls + len(self.notices)]

    @cached_property
    def _parts(self) -> list[int]:
        """Pages of rolls before each school's, and all of them at the end."""
        return [0, *accumulate(-(-len(roll) // ROLL_ROWS) for roll in self.rolls)]

    def roll_pages(self, school: int) -> range:
        """Return the pages of the roll of a school's page."""
        number = self.number(school)
        return range(self.base + self._parts[number], self.base + self._parts[number + 1])

    def roll_part(self, number: int) -> tuple[int, int]:
        """Return the number of the school and the part, from 0, that a page of rolls shows."""
        school = bisect_right(self._parts, number) - 1
        return school, number - self._parts[school]

    def notice_page(self, number: int) -> int:
        """Return the page of a notice."""
        return self._from[1] + number

    def code_page(self, region: int) -> int:
        """Return the page of the code of a region's page."""
        return self._from[2] + self.number(region)

    def marks_of(self, pupil: int) -> int:
        """Return the marks of a pupil's page."""
        return self.marks[self.number(pupil)]

    def read_for_marks(self, pupil: int) -> Iterator[int]:
        """Give the pages beside the roll that say something of the marks of a pupil's page."""
        yield from ()

    @cached_property
    def notices_on(self) -> dict[int, list[int]]:
        """Pages of the notices on each page that has any."""
        found: dict[int, list[int]] = {}
        for number, notice in enumerate(self.notices):
            found.setdefault(notice.about, []).append(self.notice_page(number))
        return found

    def is_in_force(self, page: int) -> bool:
        """Return True if no notice in force retracts or annuls this entry or notice."""
        return not any(map(self.is_in_force, self.notices_on.get(page, ())))


@lru_cache(maxsize=4)
def build_annals(seed: int, part: int, pages: int) -> AnnalsWorld:
    """Return the world of a seed with its annals. Kept for the process."""
    world = build_world(seed, part, pages)
    rng = np.random.Generator(np.random.PCG64([seed, part, pages, 1]))
    people = world.count("person")
    rolls = _rolls(rng, world)
    notices = _notices(rng, world, sum(-(-len(roll) // ROLL_ROWS) for roll in rolls))
    titles = [*_roll_titles(world, rolls)]
    titles += [f"Notice {number}" for number in range(1, len(notices) + 1)]
    regions = range(world.starts["region"], world.starts["record"])
    titles += [f"Register code of {world.titles[region]}" for region in regions]
    own = {field.name: getattr(world, field.name) for field in fields(SearchWorld)}
    return AnnalsWorld(
        **{
            **own,
            "pages": pages + len(titles),
            "titles": [*world.titles, *titles],
            "names": [*world.names, *titles],
            "ids": [*world.ids, *(pages + rng.permutation(len(titles))).tolist()],
        },
        base=pages,
        rolls=rolls,
        houses=rng.integers(0, len(HOUSES), people).tolist(),
        marks=rng.integers(11, 100, people).tolist(),
        seals=rng.integers(0, len(SEALS), len(world.records)).tolist(),
        notices=notices,
        codes=[
            RegisterCode(("latest", "earliest", "seal")[order], drafts > 0, own > 0)
            for order, drafts, own in zip(
                *(rng.permutation(len(regions)) % 3,),
                *rng.integers(0, 2, (2, len(regions))),
                strict=True,
            )
        ],
    )


def _rolls(rng: np.random.Generator, world: SearchWorld) -> list[list[int]]:
    """Return the pupils of each school, shuffled."""
    first = world.starts["school"]
    rolls: list[list[int]] = [[] for _ in range(world.count("school"))]
    for person in rng.permutation(world.count("person")).tolist():
        school = world.links["alma_mater"][person]
        if school != NONE:
            rolls[school - first].append(world.starts["person"] + person)
    return rolls


def _roll_titles(world: SearchWorld, rolls: list[list[int]]) -> list[str]:
    return [
        f"Roll of {world.titles[world.starts['school'] + number]}, part {part + 1}"
        for number, roll in enumerate(rolls)
        for part in range(-(-len(roll) // ROLL_ROWS))
    ]


def _notices(rng: np.random.Generator, world: SearchWorld, rolls: int) -> list[Notice]:
    """Return notices on half of the entries; of those half are annulled, and of these half again."""
    first = world.starts["record"]
    about = [(first + n, record.dated) for n, record in enumerate(world.records)]
    found: list[Notice] = []
    for _ in range(3):
        begin = len(found)
        for page, dated in about:
            if rng.random() < 0.5:
                found.append(Notice(page, dated + int(rng.integers(5, 900))))
        at = world.pages + rolls
        about = [(at + n, found[n].dated) for n in range(begin, len(found))]
    return found
