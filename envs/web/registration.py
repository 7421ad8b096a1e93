"""A registration form: one page, checked by the server when it is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import override

from verigym.envs.search.draws import BlockDraws
from verigym.envs.web.browsing import BrowserState
from verigym.envs.web.pages import Control, WebPage
from verigym.envs.web.site import Aim, Chore, ChoreSite, added, has
from verigym.envs.web.words import FAMILY, GIVEN, MONTHS

_TICKETS = ("Day", "Weekend", "Week", "Student", "Press")
_MEALS = ("No meal", "Vegetarian", "Vegan", "With fish")
# In the order in which larger forms add them.
_FIELDS = ("name", "ticket", "newsletter", "email", "meal", "arrival", "guests", "badge")
_CHECKS = {
    "name": (r"\S.*", "Full name must be given."),
    "email": (r"[^@\s]+@[^@\s]+\.[^@\s]+", "E-mail must be an address."),
    "arrival": (r"\d{2}/\d{2}/\d{4}", "Arrival must be a date as DD/MM/YYYY."),
    "guests": (r"\d{1,2}", "Guests must be a number."),
    "badge": (r"\S.*", "Name on the badge must be given."),
}
_LABELS = {
    "name": "Full name",
    "email": "E-mail",
    "arrival": "Arrival (DD/MM/YYYY)",
    "guests": "Number of guests",
    "badge": "Name on the badge",
}


class Registration(ChoreSite):
    """Register one person; there is no way to change a registration."""

    name: ClassVar[str] = "registration"
    sizes: ClassVar[Mapping[int, int]] = {
        1: 3,
        2: 3,
        3: 3,
        4: 5,
        5: 5,
        6: 8,
        7: 8,
    }
    counts: ClassVar[Mapping[int, int]] = {3: 2, 7: 2}

    @override
    def show(self, place: BrowserState) -> WebPage:
        if place.page == "thanks":
            return WebPage(
                "Thank you", (place.message, Control("button", "again", "Register another"))
            )
        parts: list[str | Control] = [place.message] if place.message else []
        kept = place.kept
        for name in _shown(place):
            if name == "ticket":
                value = kept.get(name, _TICKETS[0])
                parts.append(Control("combobox", name, "Ticket", value, _TICKETS))
            elif name == "newsletter":
                label = "Send me the newsletter"
                parts.append(Control("checkbox", name, label, kept.get(name, "on")))
            elif name == "meal":
                chosen = kept.get(name, _MEALS[0])
                parts.append("Meal:")
                parts += [Control("radio", name, m, "on" if m == chosen else "") for m in _MEALS]
            else:
                parts.append(Control("textbox", name, _LABELS[name], kept.get(name, "")))
        return WebPage("Registration", (*parts, Control("button", "send", "Send")))

    @override
    def submit(self, place: BrowserState, button: str, fields: Mapping[str, str]) -> BrowserState:
        size = {"size": place.kept["size"]}
        if button == "again":
            return BrowserState(place.tables, kept=size)
        # A box that is not checked is not sent.
        values = {name: fields.get(name, "") for name in _shown(place)}
        wrong = [
            message
            for name, (pattern, message) in _CHECKS.items()
            if name in values and not re.fullmatch(pattern, values[name])
        ]
        if wrong:
            return BrowserState(place.tables, kept={**size, **values}, message=" ".join(wrong))
        tables = added(place.tables, "registrations", values)
        number = len(tables["registrations"])
        return BrowserState(tables, "thanks", size, f"This is registration number {number}.")

    @override
    def pose(self, draws: BlockDraws, size: int) -> Chore:
        given, family = draws.one(GIVEN), draws.one(FAMILY)
        day, month, year = 1 + draws.below(28), draws.below(12), 2031 + draws.below(4)
        guests = 2 + draws.below(7)
        row = {
            "name": f"{given} {family}",
            "ticket": draws.one(_TICKETS[1:]),
            "newsletter": draws.one(("", "on")),
            "email": f"{given.lower()}.{family.lower()}{draws.below(90) + 10}@example.org",
            "meal": draws.one(_MEALS[1:]),
            "arrival": f"{day:02d}/{month + 1:02d}/{year}",
            "guests": str(guests),
            "badge": f"{given[0]}. {family}",
        }
        row = {name: row[name] for name in _FIELDS[:size]}
        wants = "wants" if row["newsletter"] else "does not want"
        said = [
            f"Register {row['name']} with a {row['ticket']} ticket.",
            f"{given} {wants} the newsletter.",
        ]
        if size > 3:
            other = f"{family.lower()}@old.example.org"
            said.append(f"Use the e-mail address {row['email']} instead of {other}.")
            said.append(f"Meal: {row['meal'].lower()}.")
        if size > 5:
            said.append(f"{given} arrives on {day} {MONTHS[month]} {year} with {guests} guests.")
            said.append(f"The name on the badge is {row['badge']}.")
        others = [
            {"id": n, **dict.fromkeys(row, f"(kept {n})")} for n in range(1, 2 + draws.below(4))
        ]
        return Chore(
            words=" ".join(said),
            tables={"registrations": others},
            goals=[{"kind": "present", "table": "registrations", "where": dict(row)}],
            facts=row,
            turns=2 * size + 6,
            kept={"size": str(size)},
        )

    @override
    def aim(self, place: BrowserState, facts: Mapping[str, Any]) -> Aim | None:
        if has(place.tables, "registrations", facts):
            return None
        return Aim(facts, "send") if place.page == "start" else Aim({}, "again")


def _shown(place: BrowserState) -> tuple[str, ...]:
    return _FIELDS[: int(place.kept["size"])]
