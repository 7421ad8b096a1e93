"""Errands in a house with a clock: the fewest minutes against a search through all commands, and what the rules forbid."""

import random
from dataclasses import replace

import pytest

import verigym
from verigym.envs.games.timed_errands import plan_minutes
from verigym.envs.games.timed_homes import SIZES
from verigym.errors import RequestError, TaskError
from verigym.verifiers.games.rules import RULES

RULE = RULES["household"]
PLACES = [
    ["fridge 1", "kitchen", False],
    ["sink 1", "kitchen", False],
    ["sink 2", "bathroom", False],
    ["shelf 1", "bathroom", False],
    ["table 1", "study", False],
    ["shelf 2", "study", False],
]
HOME = {
    "game": "household",
    "places": PLACES,
    "things": {"egg 1": "shelf 1", "cup 1": "fridge 1", "pen 1": "table 1"},
    "room": "study",
    "errands": [["cool", "egg", "table"], ["clean", "cup", "shelf"]],
    "minutes": 60,
    "ways": [["kitchen", "bathroom", 3], ["bathroom", "study", 5]],
    "devices": [["fridge 1", 4, 5, 30], ["sink 1", 7, 0, 0], ["sink 2", 2, 20, 40]],
}


def homes(count):
    rng = random.Random(3)
    for _ in range(count):
        targets = {"egg": rng.choice(["table", "shelf"]), "cup": rng.choice(["table", "shelf"])}
        things = {}
        for kind, target in targets.items():
            spots = [name for name, *_ in PLACES if not name.startswith(target)]
            for number in (1, 2):
                things[f"{kind} {number}"] = rng.choice(spots)
        ways = [
            ["kitchen", "bathroom", rng.randint(1, 6)],
            ["bathroom", "study", rng.randint(1, 6)],
        ]
        if rng.random() < 0.5:
            ways.append(["kitchen", "study", rng.randint(1, 9)])
        devices = []
        for name in ("fridge 1", "sink 1", "sink 2"):
            begins = rng.randint(0, 20)
            devices.append([name, rng.randint(1, 8), begins, begins + rng.randint(0, 20)])
        errands = [
            ["cool", "egg", targets["egg"]],
            [rng.choice(["clean", "put"]), "cup", targets["cup"]],
        ]
        yield HOME | {
            "things": things,
            "errands": errands,
            "ways": ways,
            "devices": devices,
            "room": rng.choice(["kitchen", "bathroom", "study"]),
        }


def first_minute(env, start):
    """The earliest minute of all ways to win, minute by minute; states differ by the minute too."""
    waiting, met = {start.minute: {start}}, set()
    while waiting:
        minute = min(waiting)
        for board in waiting.pop(minute):
            if RULE.won(board):
                return minute
            for command in env.moves(board):
                after = RULE.apply(board, RULE.read(command))
                if after not in met:
                    met.add(after)
                    waiting.setdefault(after.minute, set()).add(after)
    return None


def run(board, commands):
    for command in commands:
        move = RULE.read(command)
        assert RULE.legal(board, move), command
        board = RULE.apply(board, move)
    return board


def test_plans_are_over_first_among_all_commands():
    env = verigym.make("games/household")
    for home in homes(6):
        start = RULE.start(home | {"minutes": 200})
        found, simple = plan_minutes(start), plan_minutes(start, nearest=True)
        tight = RULE.start(home | {"minutes": found.minute})
        after = run(tight, found.commands)
        assert RULE.won(after)
        assert after.minute == found.minute == first_minute(env, tight)
        assert run(start, simple.commands).minute == simple.minute >= found.minute


def test_plans_go_on_from_the_midst_of_a_delivery():
    for home in homes(6):
        start = RULE.start(home | {"minutes": 200})
        whole = plan_minutes(start)
        for done in range(len(whole.commands)):
            assert plan_minutes(run(start, whole.commands[:done])).minute == whole.minute


@pytest.mark.parametrize("level", [8, 9, 10])
def test_the_minutes_are_the_fewest_and_what_is_to_spare(level):
    env = verigym.make("games/household", difficulty=level)
    for seed in range(3):
        prompt, _ = env.reset(seed=seed)
        size, reference = SIZES[level], env.task.reference
        best = plan_minutes(env.state.board).minute
        limit = best + best * size.spare // 100
        assert reference["minutes"] == limit < plan_minutes(env.state.board, nearest=True).minute
        assert ("the earliest that is possible" in prompt) == (limit == best)
        assert len(reference["errands"]) == size.errands
        for one, other, minutes in reference["ways"]:
            assert f"{one} - {other} {minutes}" in prompt
        for name, minutes, begins, ends in reference["devices"]:
            assert f"{name} {minutes} minutes, busy from minute {begins} to {ends}" in prompt
        over = False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(env.oracle())
            over = terminated or truncated
        assert (reward, env.state.board.minute) == (1.0, best)
        assert f"It is minute {best} of {limit}." in seen


def test_a_minute_too_many_cannot_be_made_up_at_level_10():
    env = verigym.make("games/household", difficulty=10)
    env.reset(seed=3)
    here = env.state.board
    place = next(name for name, room in here.house.room_of.items() if room != here.room)
    assert not RULE.legal(here, RULE.read(f"go to {place}"))
    way = plan_minutes(here).commands
    rooms = [room for room in here.house.rooms if (here.room, room) in here.house.clock.walks]
    away = next(f"go to {room}" for room in rooms if f"go to {room}" != way[0])
    env.step(away)
    env.step(f"go to {here.room}")
    with pytest.raises(RequestError):
        env.oracle()
    over = False
    while not over:
        commands = env.moves(env.state.board)
        _, reward, terminated, truncated, _ = env.step(commands[-1])
        over = terminated or truncated
    assert reward == 0.0


def test_devices_take_their_minutes_and_are_waited_for():
    start = RULE.start(HOME)
    board = run(start, ["go to bathroom", "go to shelf 1", "take egg 1 from shelf 1"])
    assert board.minute == 7
    board = run(board, ["go to kitchen", "go to fridge 1"])
    assert board.minute == 11
    assert run(board, ["cool egg 1 with fridge 1"]).minute == 34
    assert run(replace(board, minute=4), ["cool egg 1 with fridge 1"]).minute == 8
    assert run(replace(board, minute=30), ["cool egg 1 with fridge 1"]).minute == 34
    late = RULE.start(HOME | {"minutes": 33})
    assert not RULE.legal(replace(board, house=late.house), RULE.read("cool egg 1 with fridge 1"))


def test_only_what_an_errand_asks_for_is_taken_and_put():
    start = RULE.start(HOME)
    board = run(start, ["go to table 1"])
    assert not RULE.legal(board, RULE.read("take pen 1 from table 1"))
    assert not RULE.legal(board, RULE.read("go to kitchen"))  # no way leads there
    board = run(board, ["go to bathroom", "go to shelf 1", "take egg 1 from shelf 1"])
    assert not RULE.legal(board, RULE.read("put egg 1 on shelf 1"))
    board = run(board, ["go to study", "go to table 1"])
    assert not RULE.legal(board, RULE.read("put egg 1 on table 1"))  # not cold yet
    board = replace(board, states=frozenset({("egg 1", "cold")}))
    board = run(board, ["put egg 1 on table 1"])
    assert not RULE.legal(board, RULE.read("take egg 1 from table 1"))  # that errand is run


@pytest.mark.parametrize(
    "change",
    [
        {"minutes": 0},
        {"minutes": True},
        {"minutes": "60"},
        {"ways": None},
        {"ways": [["kitchen", "bathroom", 3]]},
        {"ways": [["kitchen", "bathroom", 0], ["bathroom", "study", 5]]},
        {"ways": [["kitchen", "attic", 3], ["bathroom", "study", 5]]},
        {"ways": [*HOME["ways"], ["bathroom", "kitchen", 4]]},
        {"devices": HOME["devices"][1:]},
        {"devices": [*HOME["devices"], ["table 1", 4, 0, 0]]},
        {"devices": [["fridge 1", 4, 30, 5], *HOME["devices"][1:]]},
        {"devices": [["fridge 1", 4], *HOME["devices"][1:]]},
        {"devices": [["fridge 1", 0, 0, 0], *HOME["devices"][1:]]},
        {"errands": [["two", "egg", "table"]]},
        {"errands": [["light", "pen", ""]]},
    ],
)
def test_a_clock_that_makes_no_sense_is_the_author_s_fault(change):
    assert RULE.start(HOME).house.clock.limit == 60
    with pytest.raises(TaskError):
        RULE.start(HOME | change)
