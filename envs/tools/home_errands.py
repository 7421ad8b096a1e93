"""Errands in a house: each takes what it is about from a `HouseDraft`, or gives None if nothing fits."""

from __future__ import annotations

from collections.abc import Callable

from verigym.envs.tools.home_house import Device, HouseDraft
from verigym.envs.tools.wishes import Goal, Wish, WishStep, added, changed, gone


def _switched(devices: list[Device], on: int) -> tuple[list[Goal], list[WishStep]]:
    """Reading each device of a room comes before switching those that need it."""
    wrong = [device for device in devices if device.on != on]
    steps = [
        WishStep("switch", {"device": d.id, "on": bool(on)}, len(devices) + 1 if i == 0 else 1)
        for i, d in enumerate(wrong)
    ]
    return [changed("devices", d.id, on_=on) for d in wrong], steps


def lamps_of_room(house: HouseDraft) -> Wish | None:
    """Switch all lamps of a room on or off."""
    room = str(house.draws.pick(house.rooms)[1])
    lamps, on = house.those("lamp", room), house.draws.below(2)
    goals, steps = _switched(lamps, on)
    if not goals or not house.take(lamps):
        return None
    return Wish(f"All lamps in the {room} must be {'on' if on else 'off'}.", goals, steps)


def warm_floor(house: HouseDraft) -> Wish | None:
    """Ask to set every heating of a floor to a temperature."""
    floor, degrees = house.draws.pick(("ground", "upper")), house.draws.between(17, 23)
    rooms = [str(row[1]) for row in house.rooms if row[2] == floor]
    heatings = [d for d in house.those("heating") if d.room in rooms]
    wrong = [d for d in heatings if d.level != degrees]
    if not wrong or not house.take(heatings):
        return None
    return Wish(
        f"Set the level of every heating on the {floor} floor to {degrees} degrees; whether they are on "
        "stays as it is.",
        [changed("devices", d.id, level=degrees) for d in wrong],
        [
            WishStep(
                "set_level", {"device": d.id, "level": degrees}, len(heatings) + 2 if i == 0 else 1
            )
            for i, d in enumerate(wrong)
        ],
    )


def change_one(house: HouseDraft) -> Wish | None:
    """Change a level by a difference, so that it must be read first."""
    device = house.draws.pick([d for d in house.devices if d.kind in ("heating", "blind", "lamp")])
    by = house.draws.between(1, 3) if device.kind == "heating" else 5
    level = device.level - by
    if level < 5 or not house.take([device]):
        return None
    return Wish(
        f"Lower the level of the {device.name} by {by}.",
        [changed("devices", device.id, level=level)],
        [WishStep("set_level", {"device": device.id, "level": level}, 3)],
    )


def lock_up(house: HouseDraft) -> Wish | None:
    """Ask to lock every door that is open."""
    locks = house.those("lock")
    wrong = [lock for lock in locks if not lock.on]
    if not wrong or not house.take(locks):
        return None
    return Wish(
        "Every lock of the house must be locked.",
        [changed("devices", lock.id, on_=1) for lock in wrong],
        [
            WishStep(
                "set_lock", {"device": lock.id, "locked": True}, len(locks) + 1 if i == 0 else 1
            )
            for i, lock in enumerate(wrong)
        ],
    )


def every_day(house: HouseDraft) -> Wish | None:
    """Return a new schedule."""
    device = house.draws.pick([d for d in house.devices if d.kind in ("lamp", "heating")])
    time, action = house.time(), house.draws.pick(("on", "off"))
    if any(row[1] == device.id for row in house.schedules) or not house.take([device]):
        return None
    return Wish(
        f"Every day at {time} the {device.name} should be switched {action}.",
        [added("schedules", device=device.id, time=time, action=action)],
        [WishStep("add_schedule", {"device": device.id, "time": time, "action": action})],
    )


def no_longer(house: HouseDraft) -> Wish | None:
    """Ask to delete one schedule."""
    if not house.free_schedules:
        return None
    row = house.free_schedules.pop()
    device = house.devices[int(str(row[1])) - 1]
    return Wish(
        f"The {device.name} should no longer be switched {row[3]} every day at {row[2]}.",
        [gone("schedules", row[0])],
        [WishStep("delete_schedule", {"schedule": row[0]}, 3)],
    )


def scene_gains(house: HouseDraft) -> Wish | None:
    """Ask for one more device in a scene."""
    if not house.free_scenes:
        return None
    scene = house.free_scenes[-1]
    inside = {row[2] for row in house.settings if row[1] == scene}
    outside = [d for d in house.devices if d.kind in ("lamp", "blind") and d.id not in inside]
    if not outside:
        return None
    device, level = house.draws.pick(outside), 5 * house.draws.between(1, 19)
    house.free_scenes.pop()
    return Wish(
        f"The scene '{scene}' should also set the {device.name} to level {level}.",
        [added("settings", scene=scene, device=device.id, level=level)],
        [WishStep("add_to_scene", {"scene": scene, "device": device.id, "level": level})],
    )


def scene_loses(house: HouseDraft) -> Wish | None:
    """Ask to take a device out of a scene."""
    if not house.free_scenes:
        return None
    scene = house.free_scenes.pop()
    row = house.draws.pick([row for row in house.settings if row[1] == scene])
    device = house.devices[int(str(row[2])) - 1]
    return Wish(
        f"The scene '{scene}' should no longer set the {device.name}.",
        [gone("settings", row[0])],
        [WishStep("remove_from_scene", {"scene": scene, "device": device.id})],
    )


def by_window(house: HouseDraft) -> Wish | None:
    """Ask for a heating to be set by the state of the sensor in its room."""
    for row in house.draws.shuffled(house.rooms):
        room = str(row[1])
        sensors, heatings = house.those("sensor", room), house.those("heating", room)
        if not sensors or not heatings:
            continue
        heating, opened = heatings[0], sensors[0].on
        degrees = house.draws.between(18, 23)
        if (opened and not heating.on) or (not opened and heating.level == degrees):
            continue
        if not house.take(heatings):
            continue
        words = (
            f"If the window in the {room} is open, switch the heating there off; if it is closed, set its "
            f"level to {degrees} and leave it on or off as it is."
        )
        if opened:
            goal = changed("devices", heating.id, on_=0)
            step = WishStep("switch", {"device": heating.id, "on": False}, 4)
        else:
            goal = changed("devices", heating.id, level=degrees)
            step = WishStep("set_level", {"device": heating.id, "level": degrees}, 4)
        return Wish(words, [goal], [step])
    return None


def low_batteries(house: HouseDraft) -> Wish | None:
    """Return a line for each device whose battery is low."""
    powered = [d for d in house.devices if d.kind in ("lock", "sensor")]
    bound = house.draws.pick((20, 30, 40))
    low = [d for d in powered if d.battery < bound]
    if not house.batteries or not 1 <= len(low) <= 4:
        return None
    house.batteries = False
    return Wish(
        f"For each lock or sensor whose battery is below {bound} percent put one line on the shopping list: "
        "'battery for ' and the name of the device.",
        [added("shopping", thing=f"battery for {d.name}") for d in low],
        [
            WishStep(
                "add_to_shopping", {"thing": f"battery for {d.name}"}, len(powered) if i == 0 else 1
            )
            for i, d in enumerate(low)
        ],
    )


def brightest(house: HouseDraft) -> Wish | None:
    """Pick the lamp with the highest level in a room."""
    for row in house.draws.shuffled(house.rooms):
        lamps = house.those("lamp", str(row[1]))
        if len(lamps) < 2:
            continue
        best = max(lamps, key=lambda lamp: lamp.level)
        if sum(lamp.level == best.level for lamp in lamps) > 1 or best.level <= 5:
            continue
        if house.take(lamps):
            return Wish(
                f"Of the lamps in the {row[1]}, on or off, set the one with the highest level to 5.",
                [changed("devices", best.id, level=5)],
                [WishStep("set_level", {"device": best.id, "level": 5}, len(lamps) + 2)],
            )
    return None


KINDS: tuple[Callable[[HouseDraft], Wish | None], ...] = (
    *(lamps_of_room, warm_floor, change_one, lock_up, every_day, no_longer, scene_gains),
    *(scene_loses, by_window, low_batteries, brightest),
)
