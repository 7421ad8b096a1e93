"""Booking a room: choose a day, pick one of its free slots, name the meeting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import override

from verigym.envs.search.draws import BlockDraws
from verigym.envs.web.browsing import BrowserState
from verigym.envs.web.pages import Control, WebPage
from verigym.envs.web.site import Aim, Chore, ChoreSite, added, has
from verigym.envs.web.words import DAYS, FAMILY, ROOMS, TOPICS

_HOURS = (9, 11, 13, 15)


class Rooms(ChoreSite):
    """Book the first slot that fits; a booking cannot be cancelled."""

    name: ClassVar[str] = "rooms"
    sizes: ClassVar[Mapping[int, int]] = {2: 1, 3: 2, 4: 2, 5: 3, 6: 3}

    @override
    def show(self, place: BrowserState) -> WebPage:
        day = place.kept.get("day", DAYS[0])
        parts: list[str | Control] = [place.message] if place.message else []
        parts.append(Control("combobox", "day", "Day", day, DAYS))
        parts.append(Control("button", "look", "Show day"))
        parts.append(f"Free on {day}:")
        parts += [Control("radio", "slot", label) for label in _free(place, day)]
        title = Control("textbox", "title", "Title of the meeting", place.kept.get("title", ""))
        return WebPage("Rooms", (*parts, title, Control("button", "book", "Book")))

    @override
    def submit(self, place: BrowserState, button: str, fields: Mapping[str, str]) -> BrowserState:
        """Book on the day that is shown, whatever the box says."""
        title = fields["title"]
        if button == "look":
            return BrowserState(place.tables, kept={"day": fields["day"], "title": title})
        shown = place.kept.get("day", DAYS[0])
        kept = {"day": shown, "title": title}
        slot = _free(place, shown).get(fields.get("slot", ""))
        if slot is None or not title.strip():
            return BrowserState(place.tables, kept=kept, message="Pick a slot and give a title.")
        row = {"day": shown, "hour": slot[0], "room": slot[1], "title": title}
        message = f"Booked: {slot[1]}, {shown} {slot[0]}:00."
        return BrowserState(
            added(place.tables, "bookings", row), kept={"day": shown}, message=message
        )

    @override
    def pose(self, draws: BlockDraws, size: int) -> Chore:
        names = draws.some(ROOMS, 2 + size)
        seats = sorted(draws.some(range(3, 24), len(names)))
        rooms: list[dict[str, Any]] = [
            {"id": n, "name": name, "seats": number, "screen": draws.below(2)}
            for n, (name, number) in enumerate(zip(names, seats, strict=True), 1)
        ]
        rooms[-1]["screen"] = 1
        # At least one room is large enough, and at least one is not.
        least = seats[draws.below(len(seats) - 1)] + 1
        first = draws.below(5 if size < 3 else 3)
        screen = size > 1
        fitting = [r for r in rooms if r["seats"] >= least and (r["screen"] or not screen)]
        bookings: list[dict[str, Any]] = []
        found: dict[str, Any] | None = None
        for d, day in enumerate(DAYS):
            # In the longest chores one or two whole days are taken, where it counts.
            full = size > 2 and first <= d < first + 1 + draws.below(2)
            for hour in _HOURS:
                for room in rooms:
                    fits = room in fitting
                    looking = fits and d >= first and found is None
                    must = looking and (size > 2 or d == first) and not full and hour == _HOURS[-1]
                    if (full and fits) or (draws.below(10) < 6 and not must):
                        title = f"{draws.one(TOPICS)} {draws.below(100)}"
                        booking = {"day": day, "hour": hour, "room": room["name"], "title": title}
                        bookings.append({"id": len(bookings) + 1, **booking})
                    elif looking:
                        found = {"day": day, "hour": hour, "room": room["name"]}
        assert found is not None
        title = f"{draws.one(TOPICS)} with {draws.one(FAMILY)}"
        row = {**found, "title": title}
        needs = f"at least {least} seats" + (" and a screen" if screen else "")
        when = f"on {DAYS[first]}" if size < 3 else f"from {DAYS[first]} to Friday"
        return Chore(
            words=(
                f"Book the earliest free slot {when} in a room with {needs}; if several of them are free at "
                f'that time, take the one with the fewest seats. Use the title "{title}".'
            ),
            tables={"rooms": rooms, "bookings": bookings},
            goals=[{"kind": "present", "table": "bookings", "where": dict(row)}],
            facts={**row, "from": DAYS[first]},
            turns=20 + 2 * size,
        )

    @override
    def aim(self, place: BrowserState, facts: Mapping[str, Any]) -> Aim | None:
        """Look at the days in order, as one has to who does not know."""
        row = {name: facts[name] for name in ("day", "hour", "room", "title")}
        if has(place.tables, "bookings", row):
            return None
        shown, wanted = place.kept.get("day", DAYS[0]), facts["day"]
        first, at = DAYS.index(facts["from"]), DAYS.index(shown)
        if shown != wanted:
            following = DAYS[at + 1] if first <= at < DAYS.index(wanted) else facts["from"]
            return Aim({"day": following}, "look")
        label = next(
            label
            for label, slot in _free(place, wanted).items()
            if slot == (facts["hour"], facts["room"])
        )
        return Aim({"slot": label, "title": facts["title"]}, "book")


def _free(place: BrowserState, day: str) -> dict[str, tuple[int, str]]:
    """The free slots of a day by what is shown of them; hour and room."""
    taken = {(row["hour"], row["room"]) for row in place.tables["bookings"] if row["day"] == day}
    return {
        f"{hour}:00 {room['name']}, {room['seats']} seats{', screen' if room['screen'] else ''}": (
            hour,
            room["name"],
        )
        for hour in _HOURS
        for room in place.tables["rooms"]
        if (hour, room["name"]) not in taken
    }
