"""`search/noise`: people who share names, and registers that disagree with pages and with each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from typing_extensions import override

from verigym.envs.search.annals import AnnalsWorld
from verigym.envs.search.chains import (
    FORMS,
    LINKS_OF,
    answer_by_page,
    begin,
    finish,
    question_for,
    several,
)
from verigym.envs.search.codes import by_codes
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.pages import figure_text
from verigym.envs.search.reading import Quest, Searching
from verigym.envs.search.schema import FIGURES, LINKS, RECORDED
from verigym.envs.search.world import NONE, SearchWorld

_OF_PEOPLE = ("birthplace", "teacher", "alma_mater", "employer")


class Noise(Searching):
    """Tell namesakes apart (tiny and easy), find the entry of a register that counts (medium), or both (hard).

    From level 7 on each region has a code of its own that says which source counts (see `codes`).
    """

    id: ClassVar[str] = "verigym/search/noise-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    rules: ClassVar[str] = (
        "Several people may share a name. Entries of the public register may disagree with the page of their "
        "subject and with each other. Then the source that counts is the one with the latest date among the page "
        "of the subject and the confirmed entries. Ignore drafts and withdrawn entries. Cite the source that counts."
    )

    @override
    def pose(self, world: SearchWorld, draws: BlockDraws, level: int) -> Quest | None:
        if isinstance(world, AnnalsWorld):
            return by_codes(world, draws, level, _one_of_two)
        ways = _WAYS[level]
        return several(len(ways), lambda n: ways[n](world, draws))


def _undisputed(world: SearchWorld, draws: BlockDraws) -> Quest | None:
    chain = begin(world, draws)
    return finish(chain, draws, 1, turns=10)


def _by_register(world: SearchWorld, draws: BlockDraws) -> Quest | None:
    chain = begin(world, draws)
    if draws.below(2):
        chain.follow(draws.one(LINKS_OF[world.kind(chain.at)]))
    if chain.at not in world.records_of:
        return None
    route = [*chain.route, (chain.query, chain.at)]
    return _disputed(world, draws, chain.at, chain.phrase, route, chain.support)


def _by_namesake(world: SearchWorld, draws: BlockDraws) -> Quest | None:
    person, phrase, route = _one_of_two(world, draws)
    if person == NONE:
        return None
    link = draws.one(("employer", "birthplace"))
    subject = world.link(link, person)
    if subject not in world.records_of:
        return None
    phrase = LINKS[link].phrase.format(phrase)
    return _disputed(world, draws, subject, phrase, [*route, ("", subject)], [[person]])


def _one_of_two(world: SearchWorld, draws: BlockDraws) -> tuple[int, str, list[tuple[str, int]]]:
    """A person with a namesake, a phrase that tells them apart, and the way by both; NONE where nothing
    does."""
    person = world.starts["person"] + draws.below(world.count("person"))
    name = world.names[person]
    others = [one for one in world.by_name[name] if one != person]
    occupation = world.figures["occupation"]
    mine = occupation[world.number(person)]
    if not others or mine in {occupation[world.number(one)] for one in others}:
        return NONE, "", []
    ways = [*others, person]
    route = [(name, ways[0]), *(("", one) for one in ways[1:])]
    return person, f"the {mine} {name}", route


def _namesake(world: SearchWorld, draws: BlockDraws) -> Quest | None:
    person, phrase, route = _one_of_two(world, draws)
    if person < 0:
        return None
    asked = draws.one((*_OF_PEOPLE, "born"))
    aliases: tuple[str, ...] = ()
    if asked == "born":
        form, phrase = "date", FIGURES[asked].phrase.format(phrase)
        answer = figure_text(world, asked, world.number(person))
    else:
        target = world.link(asked, person)
        if target == NONE:
            return None
        form, phrase = "text", LINKS[asked].phrase.format(phrase)
        answer, aliases = answer_by_page(world, target)
    return Quest(
        question=question_for(phrase, form),
        answer=answer,
        aliases=aliases,
        kind=form,
        form=FORMS[form],
        route=route,
        support=[[person]],
        turns=18,
        tags=("namesakes",),
    )


def _disputed(
    world: SearchWorld,
    draws: BlockDraws,
    subject: int,
    phrase: str,
    route: list[tuple[str, int]],
    support: list[list[int]],
) -> Quest | None:
    """Return a quest for the disputed fact about `subject`, which `phrase` names.

    If the subject's own page is the latest valid source, return None in one case of three, because
    such quests would otherwise be the most common.
    """
    kind, number = world.kind(subject), world.number(subject)
    entries = world.records_of[subject]
    about = world.records[entries[0]].about
    assert about in RECORDED[kind]
    is_link = about in LINKS
    value = world.links[about][number] if is_link else world.figures[about][number]
    pages = [world.starts["record"] + n for n in entries]
    counting = [(world.dated[kind][number], value, subject)]
    for n, page in zip(entries, pages, strict=True):
        record = world.records[n]
        if record.status == 0:
            counting.append((record.dated, record.value, page))
    _, value, source = max(counting)
    if source == subject and draws.below(3) == 0:
        return None
    answer, aliases = answer_by_page(world, value) if is_link else (str(value), ())
    form = "text" if is_link else "number"
    asked = (LINKS[about] if is_link else FIGURES[about]).phrase.format(phrase)
    question = question_for(asked, form)
    query = f"Register entry {world.titles[subject]}"
    route = [*route, (query, pages[0]), *(("", page) for page in pages[1:])]
    return Quest(
        question=f"According to the source that counts, {question[0].lower()}{question[1:]}",
        answer=answer,
        aliases=aliases,
        kind=form,
        form=FORMS[form],
        route=route,
        support=[*support, [source]],
        turns=4 * len(route) + 6,
        tags=("disputed", f"entries={len(entries)}"),
    )


_WAYS: dict[int, tuple[Callable[[SearchWorld, BlockDraws], Quest | None], ...]] = {
    1: (_namesake,) * 2,
    2: (_namesake,) * 3,
    3: (*(_namesake,) * 3, _undisputed),
    4: (_by_register,) * 2,
    5: (_by_register, _by_namesake),
    6: (_by_namesake,) * 2,
}
"""Facts of a task by level, and what makes them hard to tell."""
