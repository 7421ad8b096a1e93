"""Household errands of levels 8 to 10: a house with a clock, in which ways and devices take drawn numbers of minutes.

Devices are busy for a while, so that what an errand takes depends on when it is run, and every order has to be followed
through. Houses are drawn until it is not enough to run each errand in the way that is over first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from verigym.canonical import JSON
from verigym.envs.games.errand_words import map_room, say_errand
from verigym.envs.games.homes import THINGS, WIDE_ROOMS, HomeDraws, draw_errands, furnished
from verigym.envs.games.timed_errands import plan_minutes
from verigym.verifiers.games.household import APPLIANCES, kind_of
from verigym.verifiers.games.rules import RULES


class TimedSize(Struct, frozen=True):
    """Errands, things of each kind that is wanted, things that are not, and minutes to spare in percent."""

    errands: int
    alike: int
    others: int
    spare: int


SIZES = {
    8: TimedSize(4, 2, 20, 5),
    9: TimedSize(5, 3, 25, 2),
    10: TimedSize(7, 3, 30, 0),
}

_PROMPT = """\
You are at home. The rooms are: {rooms}. Run these errands, in any order: {errands}. Any thing of the kind will do.
Time is counted. These are all the ways between rooms, with the minutes that they take in either direction: {ways}. Going \
from anywhere in a room to any place in it takes 1 minute, and so does taking a thing or putting it down. Going to a room \
leads to no place in it. You can hold one thing at a time. You can heat a thing that you hold if you are at a microwave, \
cool it at a fridge, and clean it at a sink. That takes: {devices}. If you begin to use a device while it is busy, you first \
wait until the minute in which its busy time ends, which is time that the command takes too; a use that you began earlier \
is not interrupted. A device that is busy from minute 5 to 9 can be used from minute 4, and again from minute 9 on. Everything is open. You may take only a thing of a kind that an errand not yet run \
asks for, and put it down only where that errand is then run.
Answer with one command: go to PLACE OR ROOM (a place in this room, or a room to which a way leads from here), take THING \
from PLACE, put THING in PLACE, heat THING with PLACE, cool THING with PLACE, or clean THING with PLACE. Give things and \
places with their numbers, as in "take cup 2 from table 1". It is minute 0, and all errands must be run by minute \
{limit}, {spare}. A command that cannot be run, or not in the minutes that are left, takes no time, but uses up one of \
your {limit} turns.
The places by room, and the things that are there now:
{map}"""


def draw_timed(
    rng: np.random.Generator, level: int, wants: Callable[[JSON], bool]
) -> tuple[str, dict[str, Any]]:
    """Draw houses and errands until the best order of errands, each run in the way that is over first, takes too long."""
    size = SIZES[level]
    while True:
        draws = HomeDraws(rng.random(400).tolist())
        rooms = list(WIDE_ROOMS)
        places = [
            [name, room, False]
            for name, room, _ in furnished(draws, rooms)
            if kind_of(name) != "lamp"
        ]
        errands = draw_errands(
            draws, places, ("heat", "cool", "clean", "clean", "put"), size.errands
        )
        things = _things(draws, places, errands, size)
        essence: JSON = [sorted(things.items()), sorted(errands)]
        if not wants(essence):
            continue
        house = {
            "places": places,
            "things": things,
            "room": draws.pick(rooms),
            "errands": [list(one) for one in errands],
            "ways": _ways(draws, rooms),
            "devices": _devices(draws, places, 14 * size.errands),
        }
        kinds = [thing for _, thing, _ in errands]
        wanted = {name: spot for name, spot in things.items() if kind_of(name) in kinds}
        start = RULES["household"].start({**house, "things": wanted, "minutes": 1})
        best, simple = plan_minutes(start), plan_minutes(start, nearest=True)
        assert best is not None
        assert simple is not None
        limit = best.minute + best.minute * size.spare // 100
        if simple.minute > limit:
            break
    return _say(house, limit, best.minute), {
        **house,
        "minutes": limit,
        "turns": limit,
        "essence": essence,
    }


def _things(
    draws: HomeDraws, places: list[list[Any]], errands: list[tuple[str, str, str]], size: TimedSize
) -> dict[str, str]:
    """Scatter things through the house, none of a wanted kind where it is to go."""
    targets = {thing: place for _, thing, place in errands}
    others = [kind for kind in THINGS["put"] if kind not in targets]
    chosen = [draws.pick(others) for _ in range(size.others)]
    chosen += [kind for kind in targets for _ in range(size.alike)]
    things: dict[str, str] = {}
    for kind in chosen:
        number = 1 + sum(kind_of(name) == kind for name in things)
        spots = [name for name, _, _ in places if kind_of(name) != targets.get(kind)]
        things[f"{kind} {number}"] = draws.pick(spots)
    return things


def _ways(draws: HomeDraws, rooms: list[str]) -> list[list[Any]]:
    """Draw ways that connect all rooms, half as many again as are needed."""
    inside = [rooms[0]]
    pairs = []
    for room in rooms[1:]:
        pairs.append([draws.pick(inside), room])
        inside.append(room)
    while len(pairs) < len(rooms) * 3 // 2:
        one, other = draws.pick(rooms), draws.pick(rooms)
        if one != other and [one, other] not in pairs and [other, one] not in pairs:
            pairs.append([one, other])
    return [[one, other, 2 + draws.below(8)] for one, other in pairs]


def _devices(draws: HomeDraws, places: list[list[Any]], last: int) -> list[list[Any]]:
    """Draw how long each device takes, and when it is busy."""
    found = []
    for name, _, _ in places:
        if kind_of(name) in APPLIANCES.values():
            begins = draws.below(last)
            found.append([name, 2 + draws.below(9), begins, begins + 10 + draws.below(21)])
    return found


def _say(house: dict[str, Any], limit: int, least: int) -> str:
    rooms = list(dict.fromkeys(room for _, room, _ in house["places"]))
    more = limit - least
    return _PROMPT.format(
        rooms=", ".join(rooms),
        errands="; ".join(say_errand(*one) for one in house["errands"]),
        ways=", ".join(f"{one} - {other} {minutes}" for one, other, minutes in house["ways"]),
        devices="; ".join(
            f"{name} {minutes} minutes, busy from minute {begins} to {ends}"
            for name, minutes, begins, ends in house["devices"]
        ),
        limit=limit,
        spare=f"{more} later than is possible" if more else "the earliest that is possible",
        map="\n".join(map_room(room, house["places"], house["things"]) for room in rooms),
    )
