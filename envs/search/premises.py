"""Long chains of which the question says something at every page: some of it false, and some last facts missing."""

from __future__ import annotations

import re
from dataclasses import replace

from verigym.envs.search.chains import FORMS, Chain, answer_by_page, begin, several, wander
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import figure_text
from verigym.envs.search.reading import Quest, turns_for
from verigym.envs.search.schema import FIGURES, LINKS, WORDS, Figure, PageLink
from verigym.envs.search.world import NONE, SearchWorld

LONG_CHAINS = {7: (4, 6), 8: (6, 7), 9: (8, 8), 10: (10, 9)}
"""Chains of a task and pages to each, by level."""
# Facts that some pages lack. Which one is asked for is drawn whether it is known or not, so that the words
# of a question betray nothing.
LACKING: dict[str, PageLink | Figure] = {
    **{name: LINKS[name] for name in ("spouse", "teacher", "alma_mater")},
    "river": FIGURES["river"],
}
UNKNOWN = "unknown"
CONTRADICTED = "contradicted"
_FATES = ("known", UNKNOWN, CONTRADICTED)
_LATE = {7: 3}
"""Pages at the end of a chain, of one of which something false is said if the question contradicts a page; at levels
that are missing here it may be any page."""
_PREMISES = {
    "person": ("occupation", "The occupation of {} is {}"),
    "firm": ("founded", "{} was founded in {}"),
    "work": ("finished", "{} was finished in {}"),
    "town": ("chartered", "{} was chartered in {}"),
    "event": ("visitors", "{} had {} visitors"),
    "school": ("established", "{} was established in {}"),
}
"""Figures of which a question says something, by kind of page."""
PREMISE = re.compile(
    r"(?:The occupation of P\d+ is|P\d+ (?:was (?:founded|finished|chartered|established)|had)) "
)
"""Beginning of what a question says of a page."""
_RULES = (
    "Names such as P1 hold within one question. A page states everything that is known about its subject. If a page on the "
    f'way says otherwise than the question about its subject, the answer to the question is "{CONTRADICTED}". If nothing '
    f'does, and the page that should state the answer does not, it is "{UNKNOWN}". In both cases, cite the same pages as '
    "if the question had an answer: all of its chain. A page that a name such as P1 stands for may be cited even if no fact on it "
    "is needed."
)


def contested(world: SearchWorld, draws: BlockDraws, level: int) -> Quest:
    """Return several chains: a third has its answer, of a third it is unknown, a third is contradicted, on average."""
    parts, pages = LONG_CHAINS[level]
    fates = [draws.one(_FATES) for _ in range(parts)]
    asked = [draws.one(tuple(LACKING)) for _ in range(parts)]

    def part(n: int) -> Quest | None:
        return _chain(world, draws, asked[n], fates[n], pages, _LATE.get(level, pages))

    quest = several(parts, part, overlap=True)
    tags = tuple(f"{fate}={fates.count(fate)}" for fate in _FATES)
    return replace(quest, rules=_RULES, turns=turns_for(quest.route, level), tags=tags)


def _chain(
    world: SearchWorld, draws: BlockDraws, name: str, fate: str, pages: int, late: int
) -> Quest | None:
    """Return a question that asks `name` of the last page of a chain, with something false of one of the `late` pages at its
    end if that is its fate; None in a dead end."""
    chain = begin(world, draws)
    chain.sentences = []
    if not wander(chain, draws, pages, back=2) or world.kind(chain.at) != LACKING[name].subject:
        return None
    stations = [*chain.stations]
    found = _asked(chain, name)
    if found is None or (found[0] == UNKNOWN) != (fate == UNKNOWN) or len(chain.route) != pages:
        return None
    answer, aliases = (CONTRADICTED, ()) if fate == CONTRADICTED else found
    wrong = (
        len(stations) - 1 - draws.below(min(late, len(stations))) if fate == CONTRADICTED else NONE
    )
    sentences = _with_premises(chain, draws, stations, wrong)
    if sentences is None:
        return None
    return Quest(
        question=f"{sentences} Name {chain.phrase}.",
        answer=answer,
        aliases=aliases,
        kind="text",
        form=FORMS["text"],
        route=chain.route,
        support=chain.support,
        # Of some the question tells what their own page says, though all links stand elsewhere.
        optional=tuple(stations),
        turns=0,
    )


def _asked(chain: Chain, name: str) -> tuple[str, tuple[str, ...]] | None:
    """Ask for a fact of the page at the end, and return it, or that it is unknown; None if registers disagree."""
    world, sentences = chain.world, chain.sentences
    is_figure = name in FIGURES
    known = figure_text(world, name, world.number(chain.at)) if is_figure else ""
    target = NONE if is_figure else world.link(name, chain.at)
    if not known and target == NONE:
        return (UNKNOWN, ()) if chain.ask(LACKING[name].phrase) else None
    if is_figure:
        value = chain.tell(name)
        return (value, ()) if value else None
    chain.sentences = None  # the last link is asked for and needs no sentence
    followed = chain.follow(name)
    chain.sentences = sentences
    return answer_by_page(world, target) if followed else None


def _with_premises(chain: Chain, draws: BlockDraws, stations: list[int], wrong: int) -> str | None:
    """Return the sentences of the chain, many of them with a word on the page that they name, which is false at the
    place `wrong`; None if nothing can be said there."""
    world = chain.world
    said: list[str] = []
    for place, (page, sentence) in enumerate(zip(stations, chain.sentences or (), strict=True)):
        said.append(sentence)
        kind = world.kind(page)
        if kind in _PREMISES and (place == wrong or draws.below(3)):
            figure, words = _PREMISES[kind]
            value = world.figures[figure][world.number(page)]
            shown = _another(draws, figure, value) if place == wrong else value
            said.append(words.format(f"P{place + 1}", shown) + ".")
        elif place == wrong:
            return None
    return " ".join(said)


def _another(draws: BlockDraws, figure: str, value: str | int) -> str | int:
    """Return a value that a page could have stated, but did not."""
    if figure in WORDS:
        return draws.one([word for word in WORDS[figure] if word != value])
    away = 1 + draws.below(9)
    return int(value) + (away if draws.below(2) else -away)
