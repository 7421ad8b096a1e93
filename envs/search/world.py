"""The made-up world: arrays of facts, drawn from a seed; its pages are written when they are read.

Pages are numbered 0 to n-1, those of a kind side by side; readers see ids such as `p01234`, which are
shuffled, so that an id says nothing. 20,000 pages take about 0.3 s and 15 MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from verigym.envs.search.names import made_up
from verigym.envs.search.schema import (
    EVENT_BEGINNINGS,
    FIRM_ENDINGS,
    KINDS,
    LINKS,
    RECORDED,
    SCHOOL_ENDINGS,
    SHARES,
    WORDS,
    WORK_NOUNS,
)

PAGES = 20_000
LEAST_PAGES, MOST_PAGES = 1_000, 200_000

NONE = -1


@dataclass(frozen=True)
class Record:
    """An entry of a register about one link or figure of a page; `value` is a page or a number."""

    subject: int
    about: str
    value: int
    dated: int
    status: int


@dataclass(frozen=True)
class SearchWorld:
    """Facts by kind. `links[name][k]` is the page that the k-th page of its subject's kind leads to, or
    NONE; `figures[name][k]` a number, a date or a word; `dated[k]` the date of a page of a firm or town."""

    pages: int
    starts: Mapping[str, int]
    titles: list[str]
    names: list[str]
    ids: list[int]
    links: Mapping[str, list[int]]
    figures: Mapping[str, list[Any]]
    dated: Mapping[str, list[int]]
    records: list[Record]

    def kind(self, page: int) -> str:
        """Return the kind of a page."""
        return next(kind for kind in reversed(KINDS) if page >= self.starts[kind])

    def number(self, page: int) -> int:
        """Return the index of a page among those of its kind, from 0."""
        return page - self.starts[self.kind(page)]

    def count(self, kind: str) -> int:
        """Return the number of pages of a kind."""
        after = KINDS.index(kind) + 1
        end = self.starts[KINDS[after]] if after < len(KINDS) else self.pages
        return end - self.starts[kind]

    def link(self, name: str, page: int) -> int:
        """Return the page that `page` leads to by the link `name`, or NONE."""
        return self.links[name][page - self.starts[LINKS[name].subject]]

    def page_id(self, page: int) -> str:
        """Return the id of a page as readers see it."""
        return f"p{self.ids[page]:05d}"

    @cached_property
    def by_id(self) -> dict[str, int]:
        """Pages by id."""
        return {self.page_id(page): page for page in range(self.pages)}

    @cached_property
    def by_title(self) -> dict[str, int]:
        """Pages by title, in small letters."""
        return {title.lower(): page for page, title in enumerate(self.titles)}

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """People by name; several of some names."""
        found: dict[str, list[int]] = {}
        for page in range(self.starts["person"], self.starts["person"] + self.count("person")):
            found.setdefault(self.names[page], []).append(page)
        return found

    @cached_property
    def inverse(self) -> dict[str, dict[int, list[int]]]:
        """Pages that lead to a page, for each link that is asked backwards."""
        found: dict[str, dict[int, list[int]]] = {}
        for name, link in LINKS.items():
            if link.inverse:
                start, into = self.starts[link.subject], found.setdefault(name, {})
                for k, target in enumerate(self.links[name]):
                    if target != NONE:
                        into.setdefault(target, []).append(start + k)
        return found

    @cached_property
    def records_of(self) -> dict[int, list[int]]:
        """The entries about each page that has any, as numbers into `records`."""
        found: dict[int, list[int]] = {}
        for k, record in enumerate(self.records):
            found.setdefault(record.subject, []).append(k)
        return found


@lru_cache(maxsize=4)
def build_world(seed: int, part: int = 0, pages: int = PAGES) -> SearchWorld:
    """Return the world of a seed; `part` tells the worlds of the splits apart. Kept for the process."""
    rng = np.random.Generator(np.random.PCG64([seed, part, pages]))
    counts = {kind: pages * share // 1000 for kind, share in SHARES.items()}
    counts["person"] += pages - sum(counts.values())
    starts, at = {}, 0
    for kind in KINDS:
        starts[kind] = at
        at += counts[kind]

    def some(kind: str, size: int) -> np.ndarray:
        return rng.integers(counts[kind], size=size) + starts[kind]

    def maybe(values: np.ndarray, share: float) -> np.ndarray:
        return np.where(rng.random(len(values)) < share, values, NONE)

    def words(name: str, size: int) -> list[str]:
        return [WORDS[name][k] for k in rng.integers(len(WORDS[name]), size=size).tolist()]

    people, firms, works, towns, events, schools, regions = (
        counts[k] for k in ("person", "firm", "work", "town", "event", "school", "region")
    )
    # The k-th person in order of birth; each is about 20 to 50 years younger than the teacher.
    years = np.sort(rng.integers(1500, 1900, size=people))
    order = np.arange(people)
    teacher = order - rng.integers(people // 20, people // 8, size=people)
    even = order // 2 * 2
    pairs = np.minimum(order ^ 1, people - 1)
    married = (rng.random(people)[even] < 0.5) & (pairs != order)
    founder, author, rector = (some("person", n) for n in (firms, works, schools))
    seat_of_region = _partition(rng, towns, regions) + starts["region"]
    links = {
        "birthplace": some("town", people),
        "spouse": np.where(married, pairs, NONE),
        "teacher": maybe(np.where(teacher >= 0, teacher, NONE), 0.7),
        "alma_mater": maybe(some("school", people), 0.7),
        "employer": maybe(some("firm", people), 0.8),
        "founder": founder,
        "seat": some("town", firms),
        "head": some("person", firms),
        "author": author,
        "publisher": some("firm", works),
        "setting": some("town", works),
        "region": seat_of_region,
        "mayor": some("person", towns),
        "venue": some("town", events),
        "host": some("person", events),
        "campus": some("town", schools),
        "rector": rector,
        "capital": np.array(
            [np.flatnonzero(seat_of_region == r)[0] for r in starts["region"] + np.arange(regions)]
        )
        + starts["town"],
        "ruler": some("person", regions),
    }
    days = rng.integers(336, size=people)
    rivers = made_up(rng, max(10, towns // 4), 2, 2)
    figures: dict[str, Any] = {
        "born": (years * 336 + days).tolist(),
        "occupation": words("occupation", people),
        "founded": (years[founder] + rng.integers(22, 55, size=firms)).tolist(),
        "industry": words("industry", firms),
        "staff": rng.integers(12, 4000, size=firms).tolist(),
        "finished": (years[author] + rng.integers(20, 60, size=works)).tolist(),
        "form": words("form", works),
        "chartered": rng.integers(900, 1500, size=towns).tolist(),
        "population": rng.integers(800, 300_000, size=towns).tolist(),
        "river": [
            "" if k < 0 else rivers[k]
            for k in maybe(rng.integers(len(rivers), size=towns), 0.8).tolist()
        ],
        "opened": (
            (years[links["host"]] + rng.integers(25, 60, size=events)) * 336
            + rng.integers(336, size=events)
        ).tolist(),
        "visitors": rng.integers(40, 90_000, size=events).tolist(),
        "established": (years[rector] - rng.integers(5, 200, size=schools)).tolist(),
        "currency": made_up(rng, regions, 2, 2),
    }
    names, titles = _name(rng, counts, figures["born"], starts)
    plain = {name: values.tolist() for name, values in links.items()}
    dated = {k: rng.integers(1930 * 336, 1950 * 336, size=counts[k]).tolist() for k in RECORDED}
    records = _records(rng, counts, starts, plain, figures, dated)
    titles += [
        f"Register entry {number + 1}: {titles[r.subject]}" for number, r in enumerate(records)
    ]
    return SearchWorld(
        pages=pages,
        starts=starts,
        titles=titles,
        names=[*names, *titles[len(names) :]],
        ids=rng.permutation(pages).tolist(),
        links=plain,
        figures=figures,
        dated=dated,
        records=records,
    )


def _partition(rng: np.random.Generator, items: int, groups: int) -> np.ndarray:
    """A group for each item, at random, none empty."""
    return rng.permutation(np.arange(items) % groups)


def _name(
    rng: np.random.Generator,
    counts: Mapping[str, int],
    born: list[int],
    starts: Mapping[str, int],
) -> tuple[list[str], list[str]]:
    """Names and titles of all pages but records. People may share a name, never a title."""
    people = counts["person"]
    own = people * 7 // 10
    given, family = made_up(rng, 300, 2, 2), made_up(rng, max(300, people // 4), 2, 3)
    chosen: dict[tuple[int, int], None] = {}
    while len(chosen) < own:
        pairs = np.column_stack(
            [rng.integers(len(given), size=own), rng.integers(len(family), size=own)]
        ).tolist()
        chosen.update(dict.fromkeys((g, f) for g, f in pairs))
    different = [f"{given[g]} {family[f]}" for g, f in list(chosen)[:own]]
    # The rest have a name of another, whom they are at least some years younger or older than.
    shuffled = rng.permutation(people).tolist()
    names = [""] * people
    for k, person in enumerate(shuffled):
        names[person] = different[k if k < own else k - own]
    shared = {names[person] for person in shuffled[own:]}
    titles, met = [], set()
    for person, name in enumerate(names):
        title = f"{name} (born {born[person] // 336})" if name in shared else name
        if title in met:  # of one year: then the place among all people tells them apart
            title = f"{name} (born {born[person] // 336}/{person})"
        met.add(title)
        titles.append(title)
    n = {kind: counts[kind] for kind in KINDS}
    pool = iter(
        made_up(
            rng, n["firm"] + n["work"] + n["town"] + n["event"] + n["school"] + n["region"], 2, 3
        )
    )

    def endings(words: tuple[str, ...], size: int) -> Iterator[str]:
        return (words[k] for k in rng.integers(len(words), size=size).tolist())

    for kind in ("firm", "work", "town", "event", "school", "region"):
        size = n[kind]
        assert starts[kind] == len(titles)
        if kind == "firm":
            titles += [f"{next(pool)} {word}" for word in endings(FIRM_ENDINGS, size)]
        elif kind == "work":
            titles += [f"The {word} of {next(pool)}" for word in endings(WORK_NOUNS, size)]
        elif kind == "event":
            titles += [f"{word} of {next(pool)}" for word in endings(EVENT_BEGINNINGS, size)]
        elif kind == "school":
            titles += [f"{next(pool)} {word}" for word in endings(SCHOOL_ENDINGS, size)]
        else:
            titles += [next(pool) for _ in range(size)]
    return [*names, *titles[people:]], titles


def _records(
    rng: np.random.Generator,
    counts: Mapping[str, int],
    starts: Mapping[str, int],
    links: Mapping[str, list[int]],
    figures: Mapping[str, list[Any]],
    dated: Mapping[str, list[int]],
) -> list[Record]:
    """Two to five entries about each of some firms and towns: other values, on other days, each of
    which differs from all others about the same subject."""
    total = counts["record"]
    subjects = np.concatenate(
        [
            rng.permutation(counts["firm"])[: total // 3 + 1] + starts["firm"],
            rng.permutation(counts["town"])[: total // 6 + 1] + starts["town"],
        ]
    )
    found: list[Record] = []
    for subject in rng.permutation(subjects).tolist():
        kind = "firm" if subject < starts["work"] else "town"
        k = subject - starts[kind]
        size, which, *drawn = rng.integers(1 << 30, size=26).tolist()
        about = RECORDED[kind][which % 2]
        values = [links[about][k] if about in LINKS else figures[about][k]]
        days = [dated[kind][k]]
        draws = iter(drawn)
        for _ in range(2 + size % 4):
            value, day = next(draws), dated[kind][k] + next(draws) % 4000 - 2000
            value = value % counts["person"] if about in LINKS else 12 + value % 90_000
            while value in values:
                value += 1
            while day in days:
                day += 1
            values.append(value)
            days.append(day)
            found.append(Record(subject, about, value, day, (0, 0, 0, 1, 2)[next(draws) % 5]))
    return found[:total]
