"""Facts on which registers disagree, where the code of the region says which source counts, and notices retract
entries and annul each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from verigym.envs.search.annals import AnnalsWorld
from verigym.envs.search.chains import FORMS, answer_by_page, question_for, several
from verigym.envs.search.draws import BlockDraws
from verigym.envs.search.reading import Quest, turns_for
from verigym.envs.search.schema import FIGURES, LINKS
from verigym.envs.search.world import NONE, SearchWorld

CODED = {7: 3, 8: 5, 9: 8, 10: 12}
"""Facts of a task, by level."""
_CONFIRMED, _DRAFT = 0, 1
_RULES = (
    "Several people may share a name. Entries of the public register may disagree with the page of their subject and with "
    "each other. The register code of a region says which source counts for the firms with their seat in the region and "
    "for its towns; codes differ from region to region. For each fact cite exactly three pages: that of the person, the register "
    "code, and the source that counts."
)


Person = Callable[[SearchWorld, BlockDraws], tuple[int, str, list[tuple[str, int]]]]
"""Draws a person with a namesake, a phrase that tells them apart, and the way by both; NONE for nobody."""


def by_codes(world: AnnalsWorld, draws: BlockDraws, level: int, person: Person) -> Quest:
    """Return as many disputed facts as the level has."""
    quest = several(CODED[level], lambda _: _coded(world, draws, person), overlap=True)
    return replace(quest, rules=_RULES, turns=turns_for(quest.route, level))


def _coded(world: AnnalsWorld, draws: BlockDraws, draw: Person) -> Quest | None:
    person, phrase, route = draw(world, draws)
    if person == NONE:
        return None
    link = draws.one(("employer", "birthplace"))
    subject = world.link(link, person)
    if subject not in world.records_of:
        return None
    entries = [world.starts["record"] + number for number in world.records_of[subject]]
    about = world.records[world.records_of[subject][0]].about
    town = world.link("seat", subject) if link == "employer" else subject
    region = world.link("region", town)
    code = world.code_page(region)
    source, value = source_that_counts(world, subject, region)
    notices = [notice for entry in entries for notice in _notices(world, entry)]
    way = [subject, *entries, *notices, town, region, code]
    queries = {entries[0]: f"Register entry {world.titles[subject]}"}
    asked = (LINKS[about] if about in LINKS else FIGURES[about]).phrase
    form = "text" if about in LINKS else "number"
    answer, aliases = answer_by_page(world, value) if about in LINKS else (str(value), ())
    question = question_for(asked.format(LINKS[link].phrase.format(phrase)), form)
    return Quest(
        question=f"According to the source that counts, {question[0].lower()}{question[1:]}",
        answer=answer,
        aliases=aliases,
        kind=form,
        form=FORMS[form],
        route=[*route, *((queries.get(page, ""), page) for page in dict.fromkeys(way))],
        support=[[person], [code], [source]],
        turns=0,
        tags=("codes",),
    )


def _notices(world: AnnalsWorld, page: int) -> Iterator[int]:
    for notice in world.notices_on.get(page, ()):
        yield notice
        yield from _notices(world, notice)


def source_that_counts(world: AnnalsWorld, subject: int, region: int) -> tuple[int, int]:
    """Return the page that counts for the fact about `subject` that registers dispute, and the value it states."""
    code = world.codes[world.number(region)]
    kind, number = world.kind(subject), world.number(subject)
    sources: list[tuple[int, int, int, int]] = []
    about = ""
    for entry in world.records_of[subject]:
        record, page = world.records[entry], world.starts["record"] + entry
        about = record.about
        counts = record.status == _CONFIRMED or (code.drafts and record.status == _DRAFT)
        if counts and world.is_in_force(page):
            sources.append((record.dated, world.seals[entry], page, record.value))
    own = world.links[about][number] if about in LINKS else world.figures[about][number]
    if code.own or not sources:
        sources.append((world.dated[kind][number], NONE, subject, own))
    if code.order == "seal":
        best = max(sources, key=lambda one: (one[1], one[0]))
    else:
        best = (max if code.order == "latest" else min)(sources)
    return best[2], best[3]
