"""The tools of the home: rooms, devices, scenes, schedules and a shopping list, over five tables."""

from __future__ import annotations

import sqlite3

from verigym.canonical import JSON
from verigym.envs.tools.tool import Refused, Tool, flag, insert, one, rows, text, whole
from verigym.envs.tools.world import World

KINDS = ("lamp", "heating", "blind", "lock", "sensor")
RANGES = {"lamp": (0, 100), "heating": (5, 30), "blind": (0, 100)}
"""Range of the level of each kind: percent of light, degrees, percent closed."""

Db = sqlite3.Connection

_BOUND = 80


def list_rooms(db: Db) -> JSON:
    """Return the rooms with their floors."""
    return rows(db, "SELECT * FROM rooms ORDER BY id")


def list_devices(db: Db, room: str = "", kind: str = "") -> JSON:
    """Return the names and places, without what they do now."""
    return rows(
        db,
        "SELECT id, name, kind, room FROM devices WHERE (? = '' OR room = ?) AND (? = '' OR kind = ?) "
        f"ORDER BY id LIMIT {_BOUND}",
        *(room, room, kind, kind),
    )


def read_device(db: Db, device: int) -> JSON:
    """Return all that is known of it."""
    return _device(db, device)


def switch(db: Db, device: int, on: bool) -> JSON:
    """Switch a lamp or heating on or off."""
    if _device(db, device)["kind"] not in ("lamp", "heating"):
        raise Refused("only lamps and heatings can be switched")
    db.execute("UPDATE devices SET on_ = ? WHERE id = ?", (int(on), device))
    return {"device": device, "on": on}


def set_level(db: Db, device: int, level: int) -> JSON:
    """Set the level; on or off stays as it is."""
    kind = str(_device(db, device)["kind"])
    if kind not in RANGES:
        raise Refused(f"a {kind} has no level")
    least, most = RANGES[kind]
    if not least <= level <= most:
        raise Refused(f"the level of a {kind} is from {least} to {most}, got {level}")
    db.execute("UPDATE devices SET level = ? WHERE id = ?", (level, device))
    return {"device": device, "level": level}


def set_lock(db: Db, device: int, locked: bool) -> JSON:
    """Lock or unlock a door."""
    if _device(db, device)["kind"] != "lock":
        raise Refused("it is no lock")
    db.execute("UPDATE devices SET on_ = ? WHERE id = ?", (int(locked), device))
    return {"device": device, "locked": locked}


def rename_device(db: Db, device: int, name: str) -> JSON:
    """Rename a device; its id stays."""
    _device(db, device)
    db.execute("UPDATE devices SET name = ? WHERE id = ?", (name, device))
    return {"device": device, "name": name}


def remove_device(db: Db, device: int) -> JSON:
    """Delete a device."""
    _device(db, device)
    db.execute("DELETE FROM devices WHERE id = ?", (device,))
    return {"removed": device}


def room_off(db: Db, room: str) -> JSON:
    """Switch off the lamps and heatings of a room."""
    one(db, f"there is no room {room[:60]!a}", "SELECT id FROM rooms WHERE name = ?", room)
    found = db.execute(
        "UPDATE devices SET on_ = 0 WHERE room = ? AND kind IN ('lamp', 'heating')", (room,)
    )
    return {"switched": found.rowcount}


def all_off(db: Db) -> JSON:
    """Switch off all lamps and heatings."""
    found = db.execute("UPDATE devices SET on_ = 0 WHERE kind IN ('lamp', 'heating')")
    return {"switched": found.rowcount}


def list_scenes(db: Db) -> JSON:
    """Return the scenes with the values that they set."""
    return rows(db, "SELECT * FROM settings ORDER BY scene, id")


def add_to_scene(db: Db, scene: str, device: int, level: int) -> JSON:
    """Add a setting to a scene, which begins with its first one."""
    kind = str(_device(db, device)["kind"])
    if kind not in RANGES:
        raise Refused(f"a {kind} has no level")
    if rows(db, "SELECT id FROM settings WHERE scene = ? AND device = ?", scene, device):
        raise Refused(f"the scene {scene[:60]!a} sets device {device} already; remove that first")
    insert(db, "settings", scene=scene, device=device, level=level)
    return {"scene": scene, "device": device, "level": level}


def remove_from_scene(db: Db, scene: str, device: int) -> JSON:
    """Take a device out of a scene."""
    found = "SELECT id FROM settings WHERE scene = ? AND device = ?"
    setting = one(
        db, f"the scene {scene[:60]!a} does not set device {device}", found, scene, device
    )
    db.execute("DELETE FROM settings WHERE id = ?", (setting["id"],))
    return {"scene": scene, "removed": device}


def run_scene(db: Db, scene: str) -> JSON:
    """Apply the settings of a scene now."""
    found = rows(db, "SELECT device, level FROM settings WHERE scene = ?", scene)
    if not found:
        raise Refused(f"there is no scene {scene[:60]!a}")
    for setting in found:
        db.execute(
            "UPDATE devices SET on_ = 1, level = ? WHERE id = ?",
            (setting["level"], setting["device"]),
        )
    return {"scene": scene, "devices": len(found)}


def list_schedules(db: Db) -> JSON:
    """Return all schedules."""
    return rows(db, "SELECT id, device, time, action FROM schedules ORDER BY time, id")


def add_schedule(db: Db, device: int, time: str, action: str) -> JSON:
    """Schedule an action of a device for every day."""
    _device(db, device)
    hours, colon, minutes = time.partition(":")
    if not (colon and len(time) == 5 and (hours + minutes).isdecimal() and time < "24:00"):
        raise Refused(f"time must be like 06:30, got {time[:20]!a}")
    return {"added": insert(db, "schedules", device=device, time=time, action=action)}


def delete_schedule(db: Db, schedule: int) -> JSON:
    """Delete a schedule."""
    one(db, f"there is no schedule {schedule}", "SELECT id FROM schedules WHERE id = ?", schedule)
    db.execute("DELETE FROM schedules WHERE id = ?", (schedule,))
    return {"deleted": schedule}


def clear_schedules(db: Db) -> JSON:
    """Delete the schedules."""
    return {"deleted": db.execute("DELETE FROM schedules").rowcount}


def add_to_shopping(db: Db, thing: str) -> JSON:
    """Add a line to the shopping list."""
    return {"added": insert(db, "shopping", thing=thing)}


def list_shopping(db: Db) -> JSON:
    """Return the shopping list."""
    return rows(db, "SELECT * FROM shopping ORDER BY id")


def _device(db: Db, device: int) -> dict[str, JSON]:
    found = one(db, f"there is no device {device}", "SELECT * FROM devices WHERE id = ?", device)
    kind = found["kind"]
    if kind in ("lock", "sensor"):
        del found["level"]
    state = found.pop("on_")
    if kind == "sensor":
        return {**found, "window": "open" if state else "closed"}
    if kind == "lock":
        return {**found, "locked": bool(state)}
    return {**found, "on": bool(state)} if kind != "blind" else found


_DEVICE = {"device": whole("Its id.")}
_SCENE = {"scene": text("Its name.")}
_LEVEL = {"level": whole("Percent, or degrees for a heating.", 0, 100)}
_D, _R, _S, _T, _L = ("devices",), ("rooms",), ("settings",), ("schedules",), ("shopping",)

_TOOLS = (
    Tool("list_rooms", "List the rooms and their floors.", {}, list_rooms, _R),
    Tool(
        "list_devices",
        "List devices, of a room or a kind, without their state.",
        {"room": text("Name of a room."), "kind": text("Which kind.", *KINDS)},
        *(list_devices, _D, (), frozenset({"room", "kind"})),
    ),
    Tool("read_device", "Read the state of a device.", _DEVICE, read_device, _D),
    Tool(
        "switch",
        "Switch a lamp or a heating.",
        {**_DEVICE, "on": flag("On or off.")},
        switch,
        _D,
        _D,
    ),
    Tool(
        "set_level",
        "Set a lamp (percent), a heating (degrees) or a blind (percent closed); does not switch it on.",
        {**_DEVICE, **_LEVEL},
        *(set_level, _D, _D),
    ),
    Tool(
        "set_lock",
        "Lock or unlock.",
        {**_DEVICE, "locked": flag("Whether locked.")},
        set_lock,
        _D,
        _D,
    ),
    Tool(
        "rename_device",
        "Give a device another name.",
        {**_DEVICE, "name": text("The new name.")},
        *(rename_device, _D, _D),
    ),
    Tool("remove_device", "Remove a device for good.", _DEVICE, remove_device, _D, _D),
    Tool(
        "room_off",
        "Switch off the lamps and heatings of a room.",
        {"room": text("Name of a room.")},
        *(room_off, (*_R, *_D), _D),
    ),
    Tool("all_off", "Switch off all lamps and heatings.", {}, all_off, _D, _D),
    Tool("list_scenes", "List the scenes with what they set.", {}, list_scenes, _S),
    Tool(
        "add_to_scene",
        "Let a scene, old or new, set the level of a device.",
        {**_SCENE, **_DEVICE, **_LEVEL},
        *(add_to_scene, (*_S, *_D), _S),
    ),
    Tool(
        "remove_from_scene",
        "Take a device out of a scene.",
        {**_SCENE, **_DEVICE},
        remove_from_scene,
        _S,
        _S,
    ),
    Tool("run_scene", "Do now what a scene sets.", _SCENE, run_scene, (*_S, *_D), _D),
    Tool("list_schedules", "List what happens every day.", {}, list_schedules, _T),
    Tool(
        "add_schedule",
        "Let something happen every day.",
        {**_DEVICE, "time": text("Such as 06:30."), "action": text("What.", "on", "off")},
        *(add_schedule, (*_T, *_D), _T),
    ),
    Tool(
        "delete_schedule",
        "Delete a schedule.",
        {"schedule": whole("Its id.")},
        delete_schedule,
        _T,
        _T,
    ),
    Tool("clear_schedules", "Delete all schedules.", {}, clear_schedules, _T, _T),
    Tool(
        "add_to_shopping",
        "Put a line on the shopping list.",
        {"thing": text("What to buy.")},
        *(add_to_shopping, _L, _L),
    ),
    Tool("list_shopping", "Read the shopping list.", {}, list_shopping, _L),
)

HOME = World(
    "home",
    {
        "rooms": ("id", "name", "floor"),
        "devices": ("id", "name", "kind", "room", "on_", "level", "battery"),
        "settings": ("id", "scene", "device", "level"),
        "schedules": ("id", "device", "time", "action"),
        "shopping": ("id", "thing"),
    },
    {tool.name: tool for tool in _TOOLS},
)
