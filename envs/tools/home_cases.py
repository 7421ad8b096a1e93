"""`HomePlace`: the rooms of a house with their devices; residents ask for light, warmth and more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.tools.cases.place import DeskCase, Place, PlacePart
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.home_house import MORE_ROOMS, ROOMS
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row

_LAMPS = ("ceiling lamp", "desk lamp", "corner lamp", "wall lamp")
_WARMEST = 24


class HomePlace(Place):
    """Follows lamps and heatings, which rules ask about."""

    opening: str = (
        "You control the devices of a house, whose residents send requests, called cases. Their amounts are costs in "
        "whole euros. Every room has lamps and one heating; heatings keep their level while they are off."
    )
    kinds: Mapping[str, str] = {
        "light": "switch every lamp of the room on that is off",
        "dark": "switch every lamp of the room off that is on",
        "warmth": "raise the level of the heating of the room by the degrees that the case names; it stays on or off",
        "routine": "add a schedule for the heating of the room, with the time and the action that the case names",
        "supply": "put the line 'Case N: A' on the shopping list, where N is the number of the case and A the amount",
    }
    bar: ClassVar[str] = (
        f"If a case is to be carried out and would raise a heating above {_WARMEST} degrees, refuse it, with the "
        'article "none".'
    )
    level_words: str = "the number of lamps that are on in the room of the case"
    marks: ClassVar[tuple[int, ...]] = (0, 1, 2, 3)
    core: ClassVar[tuple[str, ...]] = (
        *("list_rooms", "list_devices", "read_device", "switch", "set_level", "list_schedules"),
        *("add_schedule", "add_to_shopping", "list_shopping"),
    )

    def __init__(self, draws: Draws, names: list[str], size: int) -> None:
        super().__init__(draws, names, size)
        self.rooms = draws.some((*ROOMS, *MORE_ROOMS), 3 + size)
        self.devices: list[list[JSON]] = []
        for room in draws.shuffled(self.rooms):
            for lamp in draws.some(_LAMPS, draws.between(2, 4)):
                self._add(f"{room} {lamp}", "lamp", room, 5 * draws.between(1, 19))
            self._add(f"{room} heating", "heating", room, draws.between(16, 22))
        self.start: list[Row] = [tuple(device) for device in self.devices]

    def _add(self, name: str, kind: str, room: str, level: int) -> None:
        number = len(self.devices) + 1
        self.devices.append([number, name, kind, room, self.draws.below(2), level, 100])

    def _those(self, case: DeskCase, kind: str) -> list[list[JSON]]:
        return [d for d in self.devices if d[2] == kind and d[3] == case.particulars["room"]]

    @override
    def particulars(self, case: DeskCase) -> dict[str, JSON]:
        draws = self.draws
        about: dict[str, JSON] = {"room": draws.pick(self.rooms)}
        if case.kind == "warmth":
            about["degrees"] = draws.between(1, 3)
        if case.kind == "routine":
            about["at"] = f"{draws.between(5, 23):02d}:{5 * draws.below(12):02d}"
            about["action"] = draws.pick(("on", "off"))
        return about

    @override
    def level(self, case: DeskCase) -> int:
        return sum(int(str(lamp[4])) for lamp in self._those(case, "lamp"))

    def _warmer(self, case: DeskCase) -> int:
        now, more = self._those(case, "heating")[0][5], case.particulars["degrees"]
        return int(str(now)) + int(str(more))

    @override
    def is_possible(self, case: DeskCase) -> bool:
        return case.kind != "warmth" or self._warmer(case) <= _WARMEST

    @override
    def carry_out(self, case: DeskCase) -> list[WishStep]:
        about, heating = case.particulars, self._those(case, "heating")[0]
        if case.kind in ("light", "dark"):
            return self._switch(case, case.kind == "light")
        if case.kind == "warmth":
            heating[5] = self._warmer(case)
            return [WishStep("set_level", {"device": heating[0], "level": heating[5]})]
        if case.kind == "routine":
            timed: dict[str, JSON] = {"time": about["at"], "action": about["action"]}
            return [WishStep("add_schedule", {"device": heating[0], **timed})]
        return [WishStep("add_to_shopping", {"thing": f"Case {case.number}: {case.latest}"})]

    def _switch(self, case: DeskCase, on: bool) -> list[WishStep]:
        wrong = [lamp for lamp in self._those(case, "lamp") if bool(lamp[4]) != on]
        for lamp in wrong:
            lamp[4] = int(on)
        return [WishStep("switch", {"device": lamp[0], "on": on}) for lamp in wrong]

    @override
    def touched(self, case: DeskCase) -> list[PlacePart]:
        return [*self._those(case, "lamp"), *self._those(case, "heating")]

    @override
    def tables(self) -> tuple[tuple[Row, ...], ...]:
        draws = self.draws
        rooms: list[Row] = [
            (i, room, draws.pick(("ground", "upper"))) for i, room in enumerate(self.rooms, 1)
        ]
        lamps = [row[0] for row in self.start if row[2] == "lamp"]
        settings: list[Row] = [
            (i, "evening", number, 50) for i, number in enumerate(draws.some(lamps, 3), 1)
        ]
        schedules: list[Row] = [
            (i, number, f"{6 + i:02d}:30", "on") for i, number in enumerate(draws.some(lamps, 3), 1)
        ]
        return tuple(map(tuple, (rooms, self.start, settings, schedules, ())))
