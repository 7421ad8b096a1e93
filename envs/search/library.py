"""Sets of pages that can be searched and read: one protocol for the built-in index and the live
web."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

from verigym.envs.search.annals import AnnalsWorld, build_annals
from verigym.envs.search.annals_pages import annals_text
from verigym.envs.search.errata import build_errata
from verigym.envs.search.index import Index
from verigym.envs.search.pages import page_text
from verigym.envs.search.world import SearchWorld, build_world

HITS = 10
"""Results of a search at a time."""
SNIPPET = 40
"""Characters of a page that a result shows: whom it is about, but no link, date or status, so that a search
for many names at once stands for no page."""


@dataclass(frozen=True)
class Page:
    """A page: its id, title and whole text."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A result: what to open it by, its title and how it begins."""

    id: str
    title: str
    start: str


class Library(Protocol):
    """Two questions to ask of a set of pages."""

    def search(self, query: str, skip: int) -> list[Hit]:
        """Return up to ten results, without the first `skip`."""
        ...

    def open(self, page: str) -> Page | None:
        """Return the page of this id (or whole title), or None."""
        ...


class WorldLibrary:
    """The pages of a made-up world. The index is made at the first search."""

    def __init__(self, world: SearchWorld) -> None:
        self.world = world

    @cached_property
    def _index(self) -> Index:
        world = self.world
        return Index(f"{world.titles[page]} {self._text(page)}" for page in range(world.pages))

    def _text(self, page: int) -> str:
        world = self.world
        return (
            annals_text(world, page) if isinstance(world, AnnalsWorld) else page_text(world, page)
        )

    def search(self, query: str, skip: int) -> list[Hit]:
        """Return the first results of the index after `skip`, with the first characters of each
        page."""
        world = self.world
        return [
            Hit(world.page_id(page), world.titles[page], self._text(page)[:SNIPPET])
            for page in self._index.search(query, HITS, skip)
        ]

    def open(self, page: str) -> Page | None:
        """Return the page of this id, or of this title in any letter case; None if there is none."""
        world = self.world
        number = world.by_id.get(page)
        if number is None:
            number = world.by_title.get(page.lower())
        if number is None:
            return None
        return Page(world.page_id(number), world.titles[number], self._text(number))


@lru_cache(maxsize=4)
def world_library(seed: int, part: int, pages: int, annals: int = 0) -> WorldLibrary:
    """Return the pages of a world, with its annals if `annals` is 1, with errata too if it is 2, and their index; kept
    for the process."""
    build: Callable[[int, int, int], SearchWorld]
    build = (build_world, build_annals, build_errata)[annals]
    return WorldLibrary(build(seed, part, pages))
