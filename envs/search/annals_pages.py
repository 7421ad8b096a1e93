"""The text of pages of a world with annals: what they say beside the facts of `pages.py`, and pages of their own."""

from __future__ import annotations

from collections.abc import Iterable

from verigym.envs.search.annals import HOUSES, ROLL_ROWS, SEALS, AnnalsWorld
from verigym.envs.search.errata import CorrectedWorld
from verigym.envs.search.pages import date_text, page_text
from verigym.envs.search.world import NONE

_ORDERS = {
    "latest": "the one with the latest date counts",
    "earliest": "the one with the earliest date counts",
    "seal": "the one with the highest seal counts (crown before county, county before parish, parish before none), "
    "and of those with equal seals the one with the latest date",
}


def annals_text(world: AnnalsWorld, page: int) -> str:
    """Return the body of a page."""
    kind, number = world.kind(page), world.number(page)
    if kind == "roll":
        return _roll(world, page, number)
    if kind == "notice":
        return _notice(world, page, number)
    if kind == "code":
        return _code(world, number)
    if kind == "erratum":
        assert isinstance(world, CorrectedWorld)
        return _erratum(world, page, number)
    body = page_text(world, page)
    if kind == "school":
        pages = world.roll_pages(page)
        return f"{body} Roll of its pupils: {_ref(world, pages[0]) if pages else 'none'}."
    if kind == "region":
        return f"Law on registers: {_ref(world, world.code_page(page))}. {body}"
    if kind == "record":
        seal = SEALS[world.seals[number]]
        return f"{body} Seal: {seal}. Notices on this entry: {_listed(world, page)}."
    return body


def _ref(world: AnnalsWorld, page: int) -> str:
    return f"{world.titles[page]} [{world.page_id(page)}]"


def _listed(world: AnnalsWorld, page: int) -> str:
    return ", ".join(_ref(world, one) for one in world.notices_on.get(page, ())) or "none"


def _roll(world: AnnalsWorld, page: int, number: int) -> str:
    school, part = world.roll_part(number)
    roll = world.rolls[school]
    pages = world.roll_pages(world.starts["school"] + school)
    shown = enumerate(roll[part * ROLL_ROWS : (part + 1) * ROLL_ROWS], part * ROLL_ROWS + 1)
    head = (
        f"Roll of the pupils of {_ref(world, world.starts['school'] + school)}, part {part + 1} of {len(pages)}, "
        "as a table: number; pupil; house; marks."
    )
    following = (
        f"Next part: {_ref(world, page + 1)}." if part + 1 < len(pages) else "End of the roll."
    )
    errata = (_errata_to(world, roll, part),) if isinstance(world, CorrectedWorld) else ()
    return "\n".join((head, *_rows(world, shown), *errata, following))


def _errata_to(world: CorrectedWorld, roll: list[int], part: int) -> str:
    pupils = roll[part * ROLL_ROWS : (part + 1) * ROLL_ROWS]
    pages = sorted(page for pupil in pupils for page in world.errata_on.get(pupil, ()))
    return f"Errata to this part: {', '.join(_ref(world, one) for one in pages) or 'none'}."


def _erratum(world: CorrectedWorld, page: int, number: int) -> str:
    erratum = world.errata[number]
    about = _ref(world, erratum.about)
    said = (
        f"withdraws {about}"
        if erratum.marks == NONE
        else f"says: the marks of {about} are {erratum.marks}"
    )
    later = ", ".join(_ref(world, one) for one in world.errata_on.get(page, ())) or "none"
    return f"{world.titles[page]}, dated {date_text(erratum.dated)}, {said}. Errata on this erratum: {later}."


def _rows(world: AnnalsWorld, shown: Iterable[tuple[int, int]]) -> Iterable[str]:
    for place, pupil in shown:
        k = world.number(pupil)
        house = HOUSES[world.houses[k]]
        # Without the year of birth that some titles have.
        yield f"{place}; {world.names[pupil]} [{world.page_id(pupil)}]; {house}; {world.marks[k]}."


def _notice(world: AnnalsWorld, page: int, number: int) -> str:
    notice = world.notices[number]
    verb = "retracts" if world.kind(notice.about) == "record" else "annuls"
    return (
        f"{world.titles[page]}, dated {date_text(notice.dated)}, {verb} {_ref(world, notice.about)}. "
        f"Notices on this notice: {_listed(world, page)}."
    )


def _code(world: AnnalsWorld, number: int) -> str:
    code = world.codes[number]
    region = world.starts["region"] + number
    own = (
        "The page of the subject is a source too, with the date that it gives and without a seal."
        if code.own
        else "The page of the subject is a source only if no entry is one."
    )
    drafts = "Drafts are sources like confirmed entries" if code.drafts else "Drafts are no sources"
    return (
        f"Register code of {_ref(world, region)}, for firms with their seat in the region and for its towns. Where "
        f"sources disagree, {_ORDERS[code.order]}. Confirmed entries are sources. {drafts}; withdrawn entries never "
        f"are. {own} An entry that a notice retracts is no source. A notice that another notice annuls has no effect, "
        "so what it retracted or annulled stands as before."
    )
