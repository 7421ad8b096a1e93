"""`OfficePlace`: a calendar, files and mails; colleagues ask for meetings, notices, files and more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.tools.cases.place import DeskCase, Place, PlacePart
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.office_desk import clock
from verigym.envs.tools.office_tools import ME
from verigym.envs.tools.people import DAYS, address
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row

_TITLES = ("Audit", "Briefing", "Demo", "Forum", "Hearing", "Interview", "Lecture", "Rehearsal")
_FIRST, _LAST = 9, 16
"""Hours at which a meeting may begin."""


class OfficePlace(Place):
    """Follows the calendar, which rules ask about."""

    opening: str = (
        f"You manage mail, calendar, contacts and files for the owner of {ME}, whose colleagues send requests, called "
        "cases. Their amounts are costs in whole euros. The address of a person is in the contacts."
    )
    kinds: Mapping[str, str] = {
        "meeting": "create the event 'Case N', where N is the number of the case, on the day that the case is for, for "
        "one hour, from the earliest full hour not before 09:00 at which nothing is in the calendar, with the address "
        "of the person as its only guest",
        "notice": "send the person a mail with the subject 'Case N' and the amount, and nothing else, as its text",
        "record": "write the amount, and nothing else, to the new file /cases/N.txt",
        "removal": "cancel the event that the case names; nobody is told",
        "sharing": "share the file that the case names with the address of the person",
    }
    bar: ClassVar[str] = (
        "If a case is to be carried out and is a meeting, and no full hour from 09:00 to 16:00 (the last hour at which "
        'it may begin) is free on its day, refuse it, with the article "none".'
    )
    level_words: str = "the number of events in the calendar on the day that the case is for"
    marks: ClassVar[tuple[int, ...]] = (2, 3, 4, 5)
    core: ClassVar[tuple[str, ...]] = (
        *(
            "list_events",
            "create_event",
            "cancel_event",
            "find_contacts",
            "list_mails",
            "send_mail",
        ),
        *("list_files", "read_file", "write_file", "share_file"),
    )

    def __init__(self, draws: Draws, names: list[str], size: int) -> None:
        super().__init__(draws, names, size)
        self.days = DAYS[4 : 6 + size]
        self.events: list[Row] = []
        self.taken: dict[str, set[int]] = {}
        for day in self.days:
            hours = draws.some(range(_FIRST, _LAST + 1), draws.between(2, 6))
            self.taken[day] = set(hours)
            for hour in hours:
                title = f"{draws.pick(_TITLES)} {len(self.events) + 11}"
                guest = address(draws.pick(names))
                times = (clock(hour), clock(hour + 1))
                self.events.append((len(self.events) + 1, title, day, *times, guest))
        self.free_events = draws.shuffled(self.events)
        self.files: list[Row] = [
            (i, f"/shared/{draws.pick(_TITLES).lower()}-{i}.txt", 1, "2026-02-20", "", f"{i}")
            for i in range(1, 5 + 3 * size)
        ]

    @override
    def particulars(self, case: DeskCase) -> dict[str, JSON]:
        draws = self.draws
        if case.kind == "removal" and self.free_events:
            event = self.free_events.pop()
            return {"for_day": event[2], "event": event[1]}
        if case.kind == "removal":
            case.kind = "notice"
        about: dict[str, JSON] = {"for_day": draws.pick(self.days)}
        if case.kind == "sharing":
            about["file"] = draws.pick(self.files)[1]
        return about

    @override
    def level(self, case: DeskCase) -> int:
        return len(self.taken[str(case.particulars["for_day"])])

    @override
    def is_possible(self, case: DeskCase) -> bool:
        return case.kind != "meeting" or self._free(case) <= _LAST

    def _free(self, case: DeskCase) -> int:
        taken = self.taken[str(case.particulars["for_day"])]
        return next(hour for hour in range(_FIRST, 24) if hour not in taken)

    @override
    def carry_out(self, case: DeskCase) -> list[WishStep]:
        about, who, title = case.particulars, address(case.person), f"Case {case.number}"
        day = str(about["for_day"])
        if case.kind == "meeting":
            hour = self._free(case)
            self.taken[day].add(hour)
            when: dict[str, JSON] = {"day": day, "start": clock(hour), "end": clock(hour + 1)}
            return [WishStep("create_event", {"title": title, **when, "guests": [who]})]
        if case.kind == "notice":
            mail: dict[str, JSON] = {"to": who, "subject": title, "body": str(case.latest)}
            return [WishStep("send_mail", mail)]
        if case.kind == "record":
            path = f"/cases/{case.number}.txt"
            return [WishStep("write_file", {"path": path, "content": str(case.latest)})]
        if case.kind == "removal":
            event = next(row for row in self.events if row[1] == about["event"])
            self.taken[day].discard(int(str(event[3])[:2]))
            return [WishStep("cancel_event", {"event": event[0]})]
        return [WishStep("share_file", {"path": about["file"], "email": who})]

    @override
    def touched(self, case: DeskCase) -> list[PlacePart]:
        return [self.taken[str(case.particulars["for_day"])]]

    @override
    def tables(self) -> tuple[tuple[Row, ...], ...]:
        draws = self.draws
        mails: list[Row] = [
            (
                i,
                "inbox",
                address(draws.pick(self.names)),
                ME,
                "On the cases",
                "2026-02-20",
                "Thanks.",
            )
            for i in range(1, 4 + self.size)
        ]
        contacts: list[Row] = [
            (i, name, address(name), f"555-{draws.between(1000, 9999)}", "North")
            for i, name in enumerate(sorted(self.names), 1)
        ]
        return tuple(map(tuple, (mails, self.events, contacts, self.files)))
