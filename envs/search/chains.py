"""Questions that lead from page to page: "the birthplace of the founder of the firm by ...".

Each step is a link with one value, so that the phrase names one page; backwards only where exactly one
page has the link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product

from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import figure_text
from verigym.envs.search.reading import Quest
from verigym.envs.search.schema import FIGURES, KINDS, LINKS, RECORDED
from verigym.envs.search.world import NONE, SearchWorld

FORMS = {
    "number": "Give the answer as a number.",
    "date": "Give the answer as a date such as 3 May 1871.",
    "text": 'Give the answer as a name or a word, written as on the page but without an id. A note such as "(born 1523)" '
    "may be left out.",
}

LINKS_OF = {kind: [n for n, link in LINKS.items() if link.subject == kind] for kind in KINDS}
FIGURES_OF = {kind: [n for n, one in FIGURES.items() if one.subject == kind] for kind in KINDS}
_STARTS = ("person", "firm", "work", "town", "event", "school")
_TRIES = 8
_MOST_LINES = 64
"""Ways to write the answers to several questions: with the names or the titles of pages."""


@dataclass
class Chain:
    """A phrase that names the page `at`, and the way to it.

    `query` finds `at` if no page that was read leads to it. Pages that are `known` need not be read again.
    `stations` are the pages to which links led. With a list of `sentences` each of them gets a name of its own
    (P1, P2), so that long phrases need not stand in each other.
    """

    world: SearchWorld
    phrase: str
    at: int
    query: str = ""
    route: list[tuple[str, int]] = field(default_factory=list)
    support: list[list[int]] = field(default_factory=list)
    met: set[int] = field(default_factory=set)
    known: set[int] = field(default_factory=set)
    stations: list[int] = field(default_factory=list)
    sentences: list[str] | None = None

    def _read(self, page: int, query: str) -> bool:
        """Put a page on the way; return False if it is on it already, unless it is the last."""
        if page in self.known or (self.route and self.route[-1][1] == page):
            return True
        if any(page == one for _, one in self.route):
            return False
        self.route.append((query, page))
        return True

    def named(self, phrase: str) -> str:
        """Return the name under which a sentence introduces `phrase`, or `phrase` itself if none does."""
        if self.sentences is None:
            return phrase
        name = f"P{len(self.sentences) + 1}"
        self.sentences.append(f"{name} is {phrase}.")
        return name

    def reach(self, page: int, query: str) -> None:
        """Stand at a page to which a link led, or which `query` found."""
        self.at, self.query = page, query
        self.met.add(page)
        self.stations.append(page)

    def is_disputed(self, name: str) -> bool:
        """Return True if registers have entries about the link or figure `name` of this page."""
        return self.at in self.world.records_of and name in RECORDED.get(
            self.world.kind(self.at), ()
        )

    def follow(self, name: str) -> bool:
        """Take a link of this page; False if it has none, or leads back."""
        target = self.world.link(name, self.at)
        if target == NONE or target in self.met or self.is_disputed(name):
            return False
        if not self._read(self.at, self.query):
            return False
        # A marriage stands on two pages, and a region's page lists its towns.
        both = name in ("spouse", "region")
        self.support.append([self.at, target] if both else [self.at])
        self.phrase = self.named(LINKS[name].phrase.format(self.phrase))
        self.reach(target, "")
        return True

    def turn_back(self, name: str) -> bool:
        """Go to the only page that has the link `name` to this one; False if there is not one."""
        found = self.world.inverse[name].get(self.at, [])
        if len(found) != 1 or found[0] in self.met:
            return False
        query = f"{self.world.names[self.at]} {name}"
        if not self._read(found[0], query):
            return False
        self.support.append([found[0]])
        self.phrase = self.named(LINKS[name].inverse.format(self.phrase))
        self.reach(found[0], query)
        return True

    def tell(self, name: str) -> str | None:
        """Return a figure as this page states it; None if it does not, or registers disagree."""
        figure = FIGURES[name]
        value = figure_text(self.world, name, self.world.number(self.at))
        if not value or self.is_disputed(name) or not self.ask(figure.phrase):
            return None
        return value

    def ask(self, phrase: str) -> bool:
        """Ask this page for something that the page alone can tell; False if it was left before."""
        if not self._read(self.at, self.query):
            return False
        self.support.append([self.at])
        self.phrase = phrase.format(self.phrase)
        return True


def begin(world: SearchWorld, draws: BlockDraws, kinds: tuple[str, ...] = _STARTS) -> Chain:
    """Return a chain at a page whose name no other has."""
    while True:
        kind = draws.one(kinds)
        page = world.starts[kind] + draws.below(world.count(kind))
        name = world.names[page]
        if name == world.titles[page]:
            phrase = f"the {name}" if kind == "event" else name
            return Chain(world, phrase, page, query=name, met={page})


def wander(chain: Chain, draws: BlockDraws, pages: int, back: int) -> bool:
    """Go on until `pages` pages have to be read, the last but one included; `back` of 10 steps
    backwards where possible. False in a dead end."""
    tries = 0
    while len(chain.route) < pages - 1:
        tries += 1
        if tries > _TRIES * pages:
            return False
        kind = chain.world.kind(chain.at)
        if draws.below(10) < back:
            names = [n for n, link in LINKS.items() if link.inverse and link.target == kind]
            if names:
                chain.turn_back(draws.one(names))
        else:
            chain.follow(draws.one(LINKS_OF[kind]))
    return True


def finish(chain: Chain, draws: BlockDraws, pages: int, turns: int) -> Quest | None:
    """End with a figure or a link of the page; None if that takes another number of pages."""
    kind = chain.world.kind(chain.at)
    figures = FIGURES_OF[kind]
    which = draws.below(len(figures) + len(LINKS_OF[kind]))
    form = "text"
    aliases: tuple[str, ...] = ()
    if which < len(figures):
        form = FIGURES[figures[which]].form
        answer = chain.tell(figures[which])
        if answer is None:
            return None
    else:
        if not chain.follow(LINKS_OF[kind][which - len(figures)]):
            return None
        answer, aliases = answer_by_page(chain.world, chain.at)
    if len(chain.route) != pages:
        return None
    question = question_for(chain.phrase, form)
    return Quest(
        question=" ".join([*(chain.sentences or ()), question]),
        answer=answer,
        aliases=aliases,
        kind=form,
        form=FORMS[form],
        route=chain.route,
        support=chain.support,
        turns=turns,
        tags=(f"pages={pages}",),
    )


def several(count: int, pose: Callable[[int], Quest | None], *, overlap: bool = False) -> Quest:
    """Return `count` questions as one, all to be answered rightly: what a guess or a shortcut earns of one question,
    it hardly earns of all. `pose(n)` gives the n-th, or None to be asked again. With `overlap` a page may be on the
    way to two of them, and is read once."""
    parts: list[Quest] = []
    met: set[int] = set()
    lines = 1
    while len(parts) < count:
        part = pose(len(parts))
        if part is None or lines * (1 + len(part.aliases)) > _MOST_LINES:
            continue
        if overlap:
            is_new = part.question not in (one.question for one in parts)
        else:
            is_new = met.isdisjoint(page for _, page in part.route)
        if is_new:
            parts.append(part)
            met |= {page for _, page in part.route}
            lines *= 1 + len(part.aliases)
    if count == 1:
        return parts[0]
    asked = "\n".join(f"({n}) {part.question}" for n, part in enumerate(parts, 1))
    first, *others = map("; ".join, product(*[(part.answer, *part.aliases) for part in parts]))
    return Quest(
        question=f"Answer these questions in this order:\n{asked}",
        answer=first,
        aliases=tuple(others),
        kind="text",
        form='Give the answers in one line, in this order and without their numbers, separated by "; ", for example: '
        'Ada Lund; 3 May 1871; 4210. Write each as on the page but without an id. A note such as "(born 1523)" may be '
        "left out.",
        route=read_once(step for part in parts for step in part.route),
        support=[group for part in parts for group in part.support],
        optional=tuple(dict.fromkeys(page for part in parts for page in part.optional)),
        turns=sum(part.turns for part in parts),
        tags=tuple(dict.fromkeys(tag for part in parts for tag in part.tags)),
    )


def read_once(route: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return a way without the steps to pages that were read before."""
    first: dict[int, str] = {}
    for query, page in route:
        first.setdefault(page, query)
    return [(query, page) for page, query in first.items()]


def question_for(phrase: str, form: str) -> str:
    """Return the sentence that asks for what `phrase` names."""
    return f"Name {phrase}." if form == "text" else f"What is {phrase}?"


def answer_by_page(world: SearchWorld, page: int) -> tuple[str, tuple[str, ...]]:
    """Return the title of a page as an answer, with its name as an alias if the title says more."""
    title, name = world.titles[page], world.names[page]
    return title, () if name == title else (name,)
