"""`HouseDraft`: a house in the making, from which errands take what they are about."""

from __future__ import annotations

from dataclasses import dataclass

from verigym.envs.tools.draws import Draws
from verigym.envs.tools.home_tools import RANGES
from verigym.envs.tools.world import Row

ROOMS = ("kitchen", "hall", "study", "bedroom", "bathroom", "nursery", "cellar", "attic")
MORE_ROOMS = (
    *("pantry", "laundry", "garage", "library", "office", "workshop", "conservatory", "playroom"),
)
"""Rooms of the houses of casework, besides those above."""
SCENES = ("evening", "morning", "party", "away")
_NAMES = {
    "lamp": ("ceiling lamp", "desk lamp", "corner lamp", "wall lamp", "reading lamp"),
    "heating": ("heating",),
    "blind": ("blind",),
    "lock": ("lock",),
    "sensor": ("window sensor",),
}


@dataclass(frozen=True)
class HouseSize:
    """Size of a house; `lamps` is the number in each room."""

    wishes: int
    rooms: int
    lamps: int
    scenes: int


@dataclass(frozen=True)
class Device:
    """A device as errands see it."""

    id: int
    name: str
    kind: str
    room: str
    on: int
    level: int
    battery: int

    @property
    def row(self) -> Row:
        """Row of the device in its table."""
        return (self.id, self.name, self.kind, self.room, self.on, self.level, self.battery)


class HouseDraft:
    """A house in the making. What an errand is about is taken, so that no two are about the same."""

    def __init__(self, draws: Draws, level: HouseSize) -> None:
        self.draws = draws
        names = draws.some(ROOMS, level.rooms)
        self.rooms: list[Row] = [
            (i, name, draws.pick(("ground", "upper"))) for i, name in enumerate(names, 1)
        ]
        self.devices: list[Device] = []
        for name in names:
            for lamp in draws.some(_NAMES["lamp"], draws.between(1, level.lamps)):
                self._add(lamp, "lamp", name)
            for kind in ("heating", "blind", "lock", "sensor"):
                if draws.below(3):
                    self._add(_NAMES[kind][0], kind, name)
        self.free = {device.id for device in self.devices}
        scenes = draws.some(SCENES, level.scenes)
        levelled = [device for device in self.devices if device.kind in RANGES]
        self.settings: list[Row] = []
        for scene in scenes:
            for device in draws.some(levelled, draws.between(2, 3)):
                row = (len(self.settings) + 1, scene, device.id, self.level_for(device.kind))
                self.settings.append(row)
        self.free_scenes = draws.shuffled(scenes)
        timed = draws.some([d for d in self.devices if d.kind in ("lamp", "heating")], 4)
        self.schedules: list[Row] = [
            (i, device.id, self.time(), draws.pick(("on", "off")))
            for i, device in enumerate(timed, 1)
        ]
        self.free_schedules = draws.shuffled(self.schedules)
        self.batteries = True

    def _add(self, name: str, kind: str, room: str) -> None:
        draws = self.draws
        level = self.level_for(kind)
        on = 0 if kind == "blind" else draws.below(2)
        battery = draws.between(1, 100) if kind in ("lock", "sensor") else 100
        number = len(self.devices) + 1
        self.devices.append(Device(number, f"{room} {name}", kind, room, on, level, battery))

    def level_for(self, kind: str) -> int:
        """Return a level that a device of that kind may have, in steps of its own."""
        if kind == "heating":
            return self.draws.between(10, 24)
        return 5 * self.draws.between(1, 19) if kind in RANGES else 0

    def time(self) -> str:
        """Return a time of day."""
        return f"{self.draws.between(5, 23):02d}:{5 * self.draws.below(12):02d}"

    def take(self, devices: list[Device]) -> bool:
        """Take the devices if all of them are free; return True if they were."""
        numbers = {device.id for device in devices}
        if not numbers or not numbers <= self.free:
            return False
        self.free -= numbers
        return True

    def those(self, kind: str, room: str | None = None) -> list[Device]:
        """Return the devices of a kind, in a room or anywhere."""
        return [d for d in self.devices if d.kind == kind and room in (None, d.room)]

    def tables(self) -> tuple[tuple[Row, ...], ...]:
        """Return all tables of the house."""
        devices = [device.row for device in self.devices]
        return tuple(map(tuple, (self.rooms, devices, self.settings, self.schedules, ())))
