"""`tools/home`: the devices of a house, its scenes and schedules; wishes of who lives there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.envs.tools.cases.desk_tools import with_desk
from verigym.envs.tools.cases.place import Place
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.home_cases import HomePlace
from verigym.envs.tools.home_errands import KINDS
from verigym.envs.tools.home_house import HouseDraft, HouseSize
from verigym.envs.tools.home_tools import HOME
from verigym.envs.tools.stateful import Stateful
from verigym.envs.tools.wishes import Story, wished
from verigym.envs.tools.world import World

_OPENING = """\
You control the devices of a house. Its rooms are on two floors, ground and upper. Lamps, heatings and blinds \
keep their level while they are off."""
LEVELS = {
    1: HouseSize(1, 2, 1, 1),
    2: HouseSize(1, 3, 2, 1),
    3: HouseSize(2, 4, 2, 1),
    4: HouseSize(3, 5, 3, 2),
    5: HouseSize(4, 7, 3, 3),
    6: HouseSize(5, 8, 4, 3),
}


class Home(Stateful):
    """Lamps, heatings, blinds, locks, scenes and schedules; what was not asked for must stay as it is."""

    id: ClassVar[str] = "verigym/tools/home-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    world: ClassVar[World] = HOME
    casework: ClassVar[type[Place] | None] = HomePlace
    desk: ClassVar[World] = with_desk(HOME)
    core: ClassVar[tuple[str, ...]] = (
        *("list_rooms", "list_devices", "read_device", "switch", "set_level", "set_lock"),
        *("list_scenes", "add_to_scene", "remove_from_scene", "list_schedules", "add_schedule"),
        *("delete_schedule", "add_to_shopping"),
    )
    extras: ClassVar[Mapping[int, tuple[int, int]]] = {
        1: (0, 0),
        2: (0, 0),
        3: (1, 1),
        4: (3, 3),
        5: (5, 5),
        6: (7, 8),
        7: (7, 10),
        8: (7, 12),
        9: (7, 14),
        10: (7, 16),
    }

    @override
    def compose(self, draws: Draws, level: int) -> Story:
        settings = LEVELS[level]
        house = HouseDraft(draws, settings)
        wishes = wished(draws, KINDS, house, settings.wishes)
        return Story(_OPENING, house.tables(), draws.shuffled(wishes))
