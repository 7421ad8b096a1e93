"""`Desk`: an office in the making, from which errands take what they are about."""

from __future__ import annotations

from dataclasses import dataclass

from verigym.envs.tools.draws import Draws
from verigym.envs.tools.office_tools import ME
from verigym.envs.tools.people import DAYS, address, people
from verigym.envs.tools.world import Row

_TOPICS = ("budget", "offsite", "invoice", "training", "newsletter", "contract", "survey", "travel")
_FIRMS = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Larch")
_EVENTS = (
    *("Budget round", "Design review", "Hiring panel", "Kick-off", "Lunch talk", "Planning"),
    *("Retrospective", "Sales call", "Security drill", "Site visit", "Team meeting", "Workshop"),
)
_FILES = ("plan", "figures", "draft", "notes", "minutes", "list", "summary", "slides")
FOLDERS = ("/reports/", "/drafts/", "/shared/")


@dataclass(frozen=True)
class OfficeSize:
    wishes: int
    people: int
    namesakes: int
    mails: int
    events: int
    files: int


class Desk:
    """A world in the making. What a wish is about is taken, so that no two are about the same."""

    def __init__(self, draws: Draws, level: OfficeSize) -> None:
        self.draws = draws
        self.names = people(draws, level.people, level.namesakes)
        self.free_names = draws.shuffled(self.names)
        self.contacts: list[Row] = [
            (i, name, address(name), f"555-{draws.between(1000, 9999)}", draws.pick(_FIRMS))
            for i, name in enumerate(self.names, 1)
        ]
        self.mails: list[Row] = []
        for _ in range(level.mails):
            sender, topic = draws.pick(self.names), draws.pick(_TOPICS)
            folder = "inbox" if draws.below(4) else draws.pick(("archive", "projects", "receipts"))
            body = f"About the {topic}: see number {draws.between(100, 999)}. {sender}"
            self.add_mail(folder, sender, f"{draws.pick(('Re', 'On', 'Your'))} {topic}", body)
        self.events: list[Row] = []
        used: set[tuple[str, int]] = set()
        for i, title in enumerate(draws.some(_EVENTS, level.events), 1):
            day, hour = draws.pick(DAYS[1:9]), draws.between(9, 15)
            if (day, hour) in used or (day, hour + 1) in used:
                hour = 17
            length = 1 if hour == 17 else draws.between(1, 2)
            used |= {(day, hour + k) for k in range(length)}
            guests = ", ".join(
                sorted(address(n) for n in draws.some(self.names, draws.between(1, 3)))
            )
            self.events.append((i, title, day, clock(hour), clock(hour + length), guests))
        self.free_events = draws.shuffled(self.events)
        self.days = set(DAYS[1:9])
        """Days that no wish is about yet."""
        self.files: list[Row] = []
        for i in range(1, level.files + 1):
            path = f"{draws.pick(FOLDERS)}{draws.pick(_FILES)}-{draws.between(10, 99)}-{i}.txt"
            changed = f"2026-0{draws.between(1, 2)}-{draws.between(10, 28)}"
            shared = address(draws.pick(self.names)) if draws.below(2) else ""
            text = f"{draws.pick(_TOPICS)} {draws.between(100, 999)}"
            self.files.append((i, path, draws.between(1, 900), changed, shared, text))
        self.free_files = draws.shuffled(self.files)

    def add_mail(self, folder: str, sender: str, subject: str, body: str) -> Row:
        """Add a mail to the owner of the desk."""
        day = f"2026-02-{self.draws.between(10, 28)}"
        mail = (len(self.mails) + 1, folder, address(sender), ME, subject, day, body)
        self.mails.append(mail)
        return mail

    def person(self) -> str | None:
        """Return a person whom no errand is about."""
        return self.free_names.pop() if self.free_names else None

    def contact(self, name: str) -> Row:
        """Return the row of a contact."""
        return self.contacts[self.names.index(name)]

    def tables(self) -> tuple[tuple[Row, ...], ...]:
        """Return all tables of the office."""
        return tuple(map(tuple, (self.mails, self.events, self.contacts, self.files)))


def clock(hour: int) -> str:
    return f"{hour:02d}:00"
