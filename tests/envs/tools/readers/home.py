"""Solves tasks of `tools/home` by their words."""

from tests.envs.tools.readers.player import dispatch, wishes


def device(player, name):
    (found,) = [d for d in player.ask("list_devices") if d["name"] == name]
    return player.ask("read_device", device=found["id"])


def those(player, **which):
    return [player.ask("read_device", device=d["id"]) for d in player.ask("list_devices", **which)]


def lamps(player, room, state):
    for lamp in those(player, room=room, kind="lamp"):
        if lamp["on"] != (state == "on"):
            player.ask("switch", device=lamp["id"], on=state == "on")


def heatings(player, floor, degrees):
    rooms = [row["name"] for row in player.ask("list_rooms") if row["floor"] == floor]
    for one in those(player, kind="heating"):
        if one["room"] in rooms:
            player.ask("set_level", device=one["id"], level=int(degrees))


def lower(player, name, by):
    one = device(player, name)
    player.ask("set_level", device=one["id"], level=one["level"] - int(by))


def lock_up(player):
    for lock in those(player, kind="lock"):
        player.ask("set_lock", device=lock["id"], locked=True)


def every_day(player, time, name, action):
    player.ask("add_schedule", device=device(player, name)["id"], time=time, action=action)


def no_longer(player, name, action, time):
    number = device(player, name)["id"]
    (row,) = [
        s
        for s in player.ask("list_schedules")
        if (s["device"], s["action"], s["time"]) == (number, action, time)
    ]
    player.ask("delete_schedule", schedule=row["id"])


def scene_gains(player, scene, name, level):
    player.ask("add_to_scene", scene=scene, device=device(player, name)["id"], level=int(level))


def scene_loses(player, scene, name):
    player.ask("remove_from_scene", scene=scene, device=device(player, name)["id"])


def by_window(player, room, degrees):
    (sensor,) = those(player, room=room, kind="sensor")
    (heating,) = those(player, room=room, kind="heating")
    if sensor["window"] == "open":
        player.ask("switch", device=heating["id"], on=False)
    else:
        player.ask("set_level", device=heating["id"], level=int(degrees))


def batteries(player, bound):
    for one in [*those(player, kind="lock"), *those(player, kind="sensor")]:
        if one["battery"] < int(bound):
            player.ask("add_to_shopping", thing=f"battery for {one['name']}")


def brightest(player, room, level):
    found = sorted(those(player, room=room, kind="lamp"), key=lambda lamp: lamp["level"])
    assert found[-1]["level"] > found[-2]["level"]
    player.ask("set_level", device=found[-1]["id"], level=int(level))


HOME = [
    (r"All lamps in the (\w+) must be (on|off)\.", lamps),
    (r"Set the level of every heating on the (\w+) floor to (\d+) degrees; .*", heatings),
    (r"Lower the level of the (.*) by (\d+)\.", lower),
    (r"Every lock of the house must be locked\.", lock_up),
    (r"Every day at (\S+) the (.*) should be switched (on|off)\.", every_day),
    (r"The (.*) should no longer be switched (on|off) every day at (\S+)\.", no_longer),
    (r"The scene '(\w+)' should also set the (.*) to level (\d+)\.", scene_gains),
    (r"The scene '(\w+)' should no longer set the (.*)\.", scene_loses),
    (r"If the window in the (\w+) is open, .* level to (\d+) and .*", by_window),
    (r"For each lock or sensor whose battery is below (\d+) percent .*", batteries),
    (
        r"Of the lamps in the (\w+), on or off, set the one with the highest level to (\d+)\.",
        brightest,
    ),
]


def home(player, prompt):
    for words in wishes(prompt):
        dispatch(HOME, player, words)
