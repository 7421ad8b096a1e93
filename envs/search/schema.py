"""Schema of the made-up world: kinds of pages, the links between them, and their figures."""

from __future__ import annotations

from dataclasses import dataclass

SHARES = {
    "person": 430,
    "firm": 150,
    "work": 150,
    "town": 100,
    "event": 60,
    "school": 20,
    "region": 2,
    "record": 88,
}
"""Pages of each kind in a thousand."""

KINDS = tuple(SHARES)


@dataclass(frozen=True)
class PageLink:
    """A relation that leads from a page to one other, or to none.

    `phrase` names the other page in a question; `inverse`, where there is one, names the page that has
    this relation to a given one, and is asked only where there is exactly one such page.
    """

    subject: str
    target: str
    phrase: str
    inverse: str = ""


LINKS = {
    "birthplace": PageLink("person", "town", "the birthplace of {}"),
    "spouse": PageLink("person", "person", "the spouse of {}"),
    "teacher": PageLink("person", "person", "the teacher of {}"),
    "alma_mater": PageLink("person", "school", "the school attended by {}"),
    "employer": PageLink("person", "firm", "the employer of {}"),
    "founder": PageLink("firm", "person", "the founder of {}", "the firm founded by {}"),
    "seat": PageLink("firm", "town", "the seat of {}"),
    "head": PageLink("firm", "person", "the head of {}"),
    "author": PageLink("work", "person", "the author of {}", "the work by {}"),
    "publisher": PageLink("work", "firm", "the publisher of {}", "the work published by {}"),
    "setting": PageLink("work", "town", "the town that is the setting of {}", "the work set in {}"),
    "region": PageLink("town", "region", "the region of {}"),
    "mayor": PageLink("town", "person", "the mayor of {}"),
    "venue": PageLink("event", "town", "the venue of {}", "the event held in {}"),
    "host": PageLink("event", "person", "the host of {}", "the event hosted by {}"),
    "campus": PageLink("school", "town", "the home town of {}"),
    "rector": PageLink("school", "person", "the rector of {}", "the school whose rector is {}"),
    "capital": PageLink("region", "town", "the capital of {}"),
    "ruler": PageLink("region", "person", "the ruler of {}"),
}


@dataclass(frozen=True)
class Figure:
    """A fact on a page besides its links; `form` is `number`, `date` or `text`."""

    subject: str
    phrase: str
    form: str


FIGURES = {
    "born": Figure("person", "the date of birth of {}", "date"),
    "occupation": Figure("person", "the occupation of {}", "text"),
    "founded": Figure("firm", "the founding year of {}", "number"),
    "industry": Figure("firm", "the industry of {}", "text"),
    "staff": Figure("firm", "the number of staff of {}", "number"),
    "finished": Figure("work", "the completion year of {}", "number"),
    "form": Figure("work", "the kind of work that {} is", "text"),
    "chartered": Figure("town", "the charter year of {}", "number"),
    "population": Figure("town", "the population of {}", "number"),
    "river": Figure("town", "the river that flows through {}", "text"),
    "opened": Figure("event", "the opening date of {}", "date"),
    "visitors": Figure("event", "the number of visitors to {}", "number"),
    "established": Figure("school", "the founding year of {}", "number"),
    "currency": Figure("region", "the currency of {}", "text"),
}

RECORDED = {"firm": ("head", "staff"), "town": ("mayor", "population")}
"""Facts that registers have entries about; an entry may disagree with the page of its subject."""

STATUSES = ("confirmed", "draft", "withdrawn")

WORDS = {
    "occupation": (
        "painter", "glassblower", "botanist", "engraver", "surveyor", "composer", "clockmaker", "physician",
        "printer", "shipwright", "astronomer", "poet", "baker", "judge", "architect", "weaver",
        "cartographer", "brewer", "sculptor", "chemist", "notary", "falconer", "bookbinder", "actor",
    ),
    "industry": (
        "glass", "paper", "rope", "printing", "brewing", "clocks", "salt", "tiles", "carriages", "lamps",
        "soap", "cutlery", "sails", "pianos", "dyes", "bricks", "porcelain", "instruments",
    ),
    "form": ("novel", "opera", "painting", "play", "ballad", "fresco", "symphony", "treatise"),
}  # fmt: skip

FIRM_ENDINGS = ("Works", "Mills", "Foundry", "Press", "Brothers", "Company", "Yard", "Union")
SCHOOL_ENDINGS = ("Academy", "College", "Institute", "School")
EVENT_BEGINNINGS = (
    "Treaty",
    "Fair",
    "Regatta",
    "Congress",
    "Festival",
    "Trial",
    "Siege",
    "Jubilee",
)
WORK_NOUNS = (
    "Lantern", "Orchard", "Mirror", "Bridge", "Winter", "Ferryman", "Garden", "Tower", "Harbour", "Clock",
    "Letter", "Crown", "Window", "Island", "Miller", "Shadow", "Well", "Door", "Carpet", "Voyage",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
