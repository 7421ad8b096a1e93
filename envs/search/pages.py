"""The text of a page, written from the facts whenever it is asked for."""

from __future__ import annotations

from verigym.envs.search.schema import MONTHS, STATUSES
from verigym.envs.search.world import NONE, SearchWorld

_FILLERS = (
    "The archive keeps three letters on the matter.",
    "Older almanacs spell the name in other ways.",
    "A small plaque recalls it.",
    "No portrait is known.",
    "Schoolbooks of the time pass over it.",
    "An account in verse has been lost.",
    "The entry was shortened in the second edition.",
)


def date_text(day: int) -> str:
    """Return a date such as `3 May 1871`; years have twelve months of 28 days here."""
    year, rest = divmod(day, 336)
    return f"{rest % 28 + 1} {MONTHS[rest // 28]} {year}"


def month_of(day: int) -> int:
    """Return the month of a date, from 0."""
    return day % 336 // 28


def figure_text(world: SearchWorld, name: str, number: int) -> str:
    """Return a figure as pages state it; empty if it is not known."""
    value = world.figures[name][number]
    return date_text(value) if name in ("born", "opened") else str(value)


def page_text(world: SearchWorld, page: int) -> str:
    """Return the body of a page, printable ASCII; other pages stand in it as `Title [id]`."""
    return _WRITERS[world.kind(page)](world, page, world.number(page))


def _ref(world: SearchWorld, page: int) -> str:
    return f"{world.titles[page]} [p{world.ids[page]:05d}]"


def _a(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _person(w: SearchWorld, page: int, k: int) -> str:
    links = w.links
    lines = [
        f"{w.names[page]}, {w.figures['occupation'][k]}, was born on "
        f"{date_text(w.figures['born'][k])} in {_ref(w, links['birthplace'][k])}."
    ]
    if (school := links["alma_mater"][k]) != NONE:
        lines.append(f"Studied at {_ref(w, school)}.")
    if (teacher := links["teacher"][k]) != NONE:
        lines.append(f"Teacher: {_ref(w, teacher)}.")
    if (employer := links["employer"][k]) != NONE:
        lines.append(f"Employer: {_ref(w, employer)}.")
    if (spouse := links["spouse"][k]) != NONE:
        lines.append(f"Spouse: {_ref(w, spouse)}.")
    lines.append(_FILLERS[w.ids[page] % len(_FILLERS)])
    return " ".join(lines)


def _firm(w: SearchWorld, page: int, k: int) -> str:
    links, figures = w.links, w.figures
    return (
        f"{w.titles[page]} is a firm in {figures['industry'][k]}, with its seat in "
        f"{_ref(w, links['seat'][k])}. It was founded in {figures['founded'][k]}; its founder was "
        f"{_ref(w, links['founder'][k])}. As of {date_text(w.dated['firm'][k])}, its head is "
        f"{_ref(w, links['head'][k])} and its number of staff is {figures['staff'][k]}. "
        + _FILLERS[w.ids[page] % len(_FILLERS)]
    )


def _work(w: SearchWorld, page: int, k: int) -> str:
    links, figures = w.links, w.figures
    return (
        f"{w.titles[page]} is {_a(figures['form'][k])} by {_ref(w, links['author'][k])}, its author, "
        f"finished in {figures['finished'][k]}. It is set in {_ref(w, links['setting'][k])}. "
        f"Its publisher was {_ref(w, links['publisher'][k])}. "
        + _FILLERS[w.ids[page] % len(_FILLERS)]
    )


def _town(w: SearchWorld, page: int, k: int) -> str:
    links, figures = w.links, w.figures
    river = f" on the river {figures['river'][k]}" if figures["river"][k] else ""
    return (
        f"{w.titles[page]} is a town{river} in the region of {_ref(w, links['region'][k])}. It was "
        f"chartered in {figures['chartered'][k]}. As of {date_text(w.dated['town'][k])}, its mayor is "
        f"{_ref(w, links['mayor'][k])} and its population is {figures['population'][k]}. "
        + _FILLERS[w.ids[page] % len(_FILLERS)]
    )


def _event(w: SearchWorld, page: int, k: int) -> str:
    links, figures = w.links, w.figures
    return (
        f"{w.titles[page]} was an event hosted by {_ref(w, links['host'][k])}. It opened on "
        f"{date_text(figures['opened'][k])}. Venue: held in {_ref(w, links['venue'][k])}. It had "
        f"{figures['visitors'][k]} visitors. " + _FILLERS[w.ids[page] % len(_FILLERS)]
    )


def _school(w: SearchWorld, page: int, k: int) -> str:
    links = w.links
    return (
        f"{w.titles[page]} is a school in the town of {_ref(w, links['campus'][k])}, established in "
        f"{w.figures['established'][k]}. Its rector is {_ref(w, links['rector'][k])}. "
        + _FILLERS[w.ids[page] % len(_FILLERS)]
    )


def _region(w: SearchWorld, page: int, k: int) -> str:
    first = w.starts["town"]
    towns = [first + n for n, region in enumerate(w.links["region"]) if region == page]
    return (
        f"{w.titles[page]} is a region. Its capital is {_ref(w, w.links['capital'][k])}, its ruler "
        f"{_ref(w, w.links['ruler'][k])}. Its currency is the {w.figures['currency'][k]}. It has "
        f"{len(towns)} towns: {', '.join(_ref(w, town) for town in towns)}."
    )


def _record(w: SearchWorld, page: int, k: int) -> str:
    record = w.records[k]
    value = str(record.value)
    if record.about in w.links:
        value = _ref(w, record.value)
    what = "number of staff" if record.about == "staff" else record.about
    return (
        f"Entry in the public register about {_ref(w, record.subject)}. Dated "
        f"{date_text(record.dated)}. Status: {STATUSES[record.status]}. The {what} of "
        f"{w.titles[record.subject]} is {value}."
    )


_WRITERS = {
    "person": _person,
    "firm": _firm,
    "work": _work,
    "town": _town,
    "event": _event,
    "school": _school,
    "region": _region,
    "record": _record,
}
