"""Household adventure: run an errand in a house whose things have to be found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.errand_plans import IN, plan_errands
from verigym.envs.games.homes import ROOMS, THINGS, HomeDraws, furnished, spots_for
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.verifiers.games.household import APPLIANCES, STATES, HouseholdState, is_run, kind_of
from verigym.verifiers.games.rules import RULES

# Rooms, things that are not wanted, and errands.
SIZES: dict[int, tuple[int, int, tuple[str, ...]]] = {
    1: (2, 1, ("light",)),
    2: (2, 8, ("put", "light")),
    3: (3, 11, ("put", "light", "heat")),
    4: (3, 14, ("put", "light", "heat", "cool", "clean")),
    5: (4, 19, ("heat", "cool", "clean")),
    6: (5, 24, ("two", "heat", "cool", "clean")),
}
# From level 7 on: things that are not wanted, errands, ways that a search for the fewest commands tries at least and at
# most, commands that the best order of whole errands, each run by itself, takes beyond them, and commands to spare in percent.
SEVERAL = {
    7: (30, 3, range(300, 1500), 0, 15),
    8: (40, 3, range(800, 4000), 1, 5),
    9: (50, 4, range(1500, 6000), 1, 0),
    10: (80, 5, range(2500, 8000), 1, 0),
}
MOST_TRIED = 40_000

_PROMPT = """\
You are at home. The rooms are: {rooms}. Your errand is to {errand}. Any thing of the kind will do.
You can go from any room to any other, and within a room from place to place. You see what is in or on the \
place where you are; open what is closed first. You can hold one thing at a time.
You can heat a thing that you hold if you are at a microwave, cool it at a fridge, and clean it at a sink. Use a lamp \
to switch it on or off.
Answer with one command: go to PLACE OR ROOM, open PLACE, close PLACE, take THING from PLACE, put THING \
in PLACE, heat THING with PLACE, cool THING with PLACE, clean THING with PLACE, or use PLACE. Give things and \
places with their numbers, as in "take cup 2 from table 1". You have {turns} commands."""
_PROMPT_SEVERAL = """\
You are at home. The rooms are: {rooms}. Run these errands, in any order: {errands}. Any thing of the kind will do, but \
each errand must still be as asked at the end.
You can go from any room to any other, and within a room from place to place. Open what is closed before you take a thing \
from it or put one into it. You can hold one thing at a time. You can heat a thing that you hold if you are at a \
microwave, cool it at a fridge, and clean it at a sink. Use a lamp to switch it on or off.
Answer with one command: go to PLACE OR ROOM, open PLACE, close PLACE, take THING from PLACE, put THING \
in PLACE, heat THING with PLACE, cool THING with PLACE, clean THING with PLACE, or use PLACE. Give things and \
places with their numbers, as in "take cup 2 from table 1". You have {turns} commands, {spare}.
The places by room, and the things that are there now. All that can be closed is closed:
{map}"""

_ERRANDS = {
    "put": "put {a} {thing} {into} {b} {place}",
    "two": "put two things of the kind {thing} {into} one {place}",
    "heat": "heat {a} {thing} and put it {into} {b} {place}",
    "cool": "cool {a} {thing} and put it {into} {b} {place}",
    "clean": "clean {a} {thing} and put it {into} {b} {place}",
    "light": "look at {a} {thing} in the light: hold it while you are at a lamp that is switched on",
}


class Household(ReplayedGame):
    """The environment. An action is a command such as `open fridge 1`; six kinds of errands.

    The turns are enough to look into every place of the house once and then to run the errand. From level 7 on there
    are several errands, the prompt says where everything is, and the turns are the fewest that all errands take, in any
    order and with any thing and place, or hardly more.
    """

    id: ClassVar[str] = "verigym/games/household-v0"
    game: ClassVar[str] = "household"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw a house in which nothing of the wanted kind is at its target yet."""
        if level in SEVERAL:
            return _draw_several(rng, level, self.wants)
        size, others, errands = SIZES[level]
        draws = HomeDraws(rng.random(256 if others < 30 else 4 * others).tolist())
        rest = [room for room in ROOMS if room != "kitchen"]
        if size == 2:
            rest.remove("bathroom")  # a lamp has to be somewhere
        while len(rest) > size - 1:
            rest.pop(draws.below(len(rest)))
        errand = draws.pick(errands)
        if errand == "light" and rest == ["bathroom"]:
            rest = ["study"]
        places = furnished(draws, ["kitchen", *rest])
        wanted = draws.pick(THINGS[errand])
        kinds = sorted({kind_of(name) for name, _, _ in places} - {"lamp", *APPLIANCES.values()})
        target = "" if errand == "light" else draws.pick(kinds)
        things: dict[str, str] = {}
        taken = [kind for kind in THINGS["put"] if kind != wanted]
        chosen = [draws.pick(taken) for _ in range(others)]
        chosen += [wanted] * (2 + draws.below(2) if errand == "two" else 1 + draws.below(2))
        for kind in chosen:
            spots = spots_for(kind, places)
            if kind == wanted:
                spots = [spot for spot in spots if kind_of(spot) != target] or [
                    name for name, _, _ in places if kind_of(name) not in (target, "lamp")
                ]
            number = 1 + sum(kind_of(name) == kind for name in things)
            things[f"{kind} {number}"] = draws.pick(spots)
        turns = 20 + size + len(places) + sum(opens for _, _, opens in places)
        prompt = _PROMPT.format(
            rooms=", ".join(["kitchen", *rest]), errand=_said(errand, wanted, target), turns=turns
        )
        return prompt, {
            "places": places,
            "things": things,
            "room": draws.pick(["kitchen", *rest]),
            "errand": [errand, wanted, target],
            "turns": turns,
        }

    @override
    def show(self, board: HouseholdState) -> str:
        house = board.house
        here = [name for name, room in house.room_of.items() if room == board.room]
        lines = [f"You are in the {board.room}. Places: {', '.join(here)}."]
        if kind_of(board.at) == "lamp":
            lines.append(f"You are at {board.at}, which is {_switch(board)}.")
        elif board.at and board.reaches(board.at):
            things = [_told(board, thing) for thing in board.things_at(board.at)]
            is_open = ", which is open" if board.at in house.opens else ""
            lines.append(
                f"You are at {board.at}{is_open}. There: {', '.join(things) or 'nothing'}."
            )
        elif board.at:
            lines.append(f"You are at {board.at}, which is closed.")
        lines.append(f"You hold {_told(board, board.held) if board.held else 'nothing'}.")
        return "\n".join(lines)

    @override
    def position(self, board: HouseholdState) -> JSON:
        """Leaves out what was seen before, which changes nothing."""
        states = [list(pair) for pair in sorted(board.states)]
        return [board.room, board.at, board.held, list(board.where), states, sorted(board.opened)]

    @override
    def moves(self, board: HouseholdState) -> list[str]:
        house, at = board.house, board.at
        found = [f"go to {room}" for room in house.rooms if room != board.room]
        found += [
            f"go to {n}" for n, room in house.room_of.items() if room == board.room != n != at
        ]
        if not at:
            return found
        if at in house.opens:
            found.append(f"{'close' if at in board.opened else 'open'} {at}")
        if kind_of(at) == "lamp":
            found.append(f"use {at}")
        elif board.reaches(at):
            if board.held:
                found.append(_put(board, at))
            else:
                found += [f"take {thing} from {at}" for thing in board.things_at(at)]
        for verb, kind in APPLIANCES.items():
            if (
                kind_of(at) == kind
                and board.held
                and (board.held, STATES[verb]) not in board.states
            ):
                found.append(f"{verb} {board.held} with {at}")
        return found

    @override
    def best(self, board: HouseholdState) -> str | None:
        """Return the next command of a player who knows the place of everything."""
        if RULES["household"].won(board):
            return None
        return _planned(board) if board.house.more else _next_command(board)

    def work(self, state: Play) -> int:
        """Count the things that are compared with the wanted kind, or the places with the target; for several errands
        the deliveries that a search for the fewest commands tries."""
        board: HouseholdState = state.board
        if board.house.more:
            found = None if state.moves else plan_errands(board, MOST_TRIED)
            return max(1, found.tried) if found else 1
        operations, wanted = 1, _current(board)[1]
        if kind_of(board.held) == wanted:
            for name in board.house.room_of:
                operations += 1
                if name == board.at and board.reaches(name):
                    operations += 1  # may be the place to use
            return operations
        for thing in board.house.things:
            operations += 1
            if kind_of(thing) == wanted:
                operations += 1  # how far it is
        return operations


_KNOWN: dict[HouseholdState, str] = {}
_MOST_KNOWN = 5000


def _planned(board: HouseholdState) -> str:
    """The next command of a plan with the fewest; of a simple player if the plan cannot be found."""
    if board not in _KNOWN:
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.clear()
        found = plan_errands(board, MOST_TRIED)
        if found is None:
            return _next_command(board)
        here, rules = board, RULES["household"]
        for command in found.moves:
            _KNOWN[here] = command
            here = rules.apply(here, rules.read(command))
    return _KNOWN[board]


def _next_command(board: HouseholdState) -> str:
    errand, wanted, _ = _current(board)
    if kind_of(board.held) == wanted:
        if errand == "light":
            return _at(board, _nearest(board, "lamp")) or f"use {board.at}"
        if errand in STATES and (board.held, STATES[errand]) not in board.states:
            place = _nearest(board, APPLIANCES[errand])
            return _at(board, place) or f"{errand} {board.held} with {place}"
        place = _target(board)
        return _opened(board, place) or _put(board, place)
    if board.held:  # something else: lay it down
        if board.at and kind_of(board.at) != "lamp":
            return _opened(board, board.at) or _put(board, board.at)
        spots = [n for n, room in board.house.room_of.items() if room == board.room]
        return f"go to {next(spot for spot in spots if kind_of(spot) != 'lamp')}"
    spot, thing = _fetched(board)
    return _opened(board, spot) or f"take {thing} from {spot}"


def _current(board: HouseholdState) -> tuple[str, str, str]:
    """The first errand that is still to be run; the last of all if none is."""
    errands = (board.house.errand, *board.house.more)
    return next((one for one in errands if not is_run(board, one)), errands[-1])


def _draw_several(
    rng: np.random.Generator, level: int, wants: Callable[[JSON], bool]
) -> tuple[str, dict[str, Any]]:
    """Draw houses and errands for different kinds of things, until their order matters."""
    others, count, tries, beyond, spare = SEVERAL[level]
    rooms = list(ROOMS)
    while True:
        draws = HomeDraws(rng.random(8 * others + 200).tolist())
        places = furnished(draws, rooms)
        errands = _drawn_errands(draws, places, count)
        things = _scattered(draws, places, errands, others)
        house = {"places": places, "things": things, "room": draws.pick(rooms)}
        essence: JSON = [sorted(things.items()), sorted(errands)]
        if not wants(essence):
            continue
        # Other things do not matter to the plan.
        kinds = [thing for _, thing, _ in errands]
        wanted = {name: spot for name, spot in things.items() if kind_of(name) in kinds}
        start = RULES["household"].start({**house, "things": wanted, "errands": errands})
        found = plan_errands(start, tries.stop)
        if found and found.tried in tries and _best_order(start) >= found.fuel + beyond:
            break
    turns = found.fuel + found.fuel * spare // 100
    most = f"{turns - found.fuel} more than" if turns > found.fuel else "which is the fewest that"
    prompt = _PROMPT_SEVERAL.format(
        rooms=", ".join(rooms),
        errands="; ".join(_said(*one) for one in errands),
        turns=turns,
        spare=f"{most} the errands take"
        if turns == found.fuel
        else f"{most} the errands take at least",
        map="\n".join(_mapped(room, places, things) for room in rooms),
    )
    limits = {"turns": turns, "max_moves": turns}
    return prompt, {
        **house,
        "errands": [list(one) for one in errands],
        **limits,
        "essence": essence,
    }


def _drawn_errands(
    draws: HomeDraws, places: list[list[Any]], count: int
) -> list[tuple[str, str, str]]:
    kinds = sorted({kind_of(name) for name, _, _ in places} - {"lamp", *APPLIANCES.values()})
    errands: list[tuple[str, str, str]] = []
    while len(errands) < count:
        errand = draws.pick(("two", "heat", "cool", "clean"))
        thing = draws.pick(THINGS[errand])
        if thing not in [one[1] for one in errands]:
            errands.append((errand, thing, draws.pick(kinds)))
    return errands


def _scattered(
    draws: HomeDraws, places: list[list[Any]], errands: list[tuple[str, str, str]], others: int
) -> dict[str, str]:
    """Put things into their usual places, none of a wanted kind where it is to go."""
    targets = {thing: place for _, thing, place in errands}
    chosen = [
        draws.pick([kind for kind in THINGS["put"] if kind not in targets]) for _ in range(others)
    ]
    chosen += [thing for _, thing, _ in errands for _ in range(3)]
    things: dict[str, str] = {}
    for kind in chosen:
        spots = [spot for spot in spots_for(kind, places) if kind_of(spot) != targets.get(kind)]
        spots = spots or [
            name for name, _, _ in places if kind_of(name) not in (targets[kind], "lamp")
        ]
        number = 1 + sum(kind_of(name) == kind for name in things)
        things[f"{kind} {number}"] = draws.pick(spots)
    return things


def _best_order(start: HouseholdState) -> int:
    """Return the commands of a simple player who runs one errand after the other, in the best order of all."""
    least = 1 << 30

    def run(state: HouseholdState, left: list[tuple[str, str, str]], spent: int) -> None:
        nonlocal least
        if not left:
            least = min(least, spent)
        for one in left:
            after, commands = _after(state, one)
            if spent + commands < least:
                run(after, [other for other in left if other != one], spent + commands)

    run(start, [start.house.errand, *start.house.more], 0)
    return least


def _after(state: HouseholdState, errand: tuple[str, str, str]) -> tuple[HouseholdState, int]:
    """Return the house after an errand is run, and the number of commands that it takes."""
    house, rules, commands = state.house, RULES["household"], 0
    state = replace(state, house=replace(house, errand=errand, more=()))
    command = ""
    while not (command.startswith("put ") and rules.won(state)):
        command = _next_command(state)
        state = rules.apply(state, rules.read(command))
        commands += 1
    return replace(state, house=house), commands


def _mapped(room: str, places: list[list[Any]], things: dict[str, str]) -> str:
    """The places of a room with their things."""
    lines = []
    for name, where, opens in places:
        if where == room:
            there = ", ".join(thing for thing, spot in things.items() if spot == name)
            lines.append(f"{name}{' (closed)' if opens else ''}: {there or 'nothing'}")
    return f"{room}: " + "; ".join(lines) + "."


def _said(errand: str, thing: str, place: str) -> str:
    """The errand in words."""
    return _ERRANDS[errand].format(
        thing=thing,
        place=place,
        a="an" if thing[0] in "aeiou" else "a",
        b="an" if place[:1] in tuple("aeiou") else "a",
        into="in" if place in IN else "on",
    )


def _switch(board: HouseholdState) -> str:
    return "on" if board.at in board.opened else "off"


def _told(board: HouseholdState, thing: str) -> str:
    """A thing with what was done to it."""
    states = sorted(state for name, state in board.states if name == thing)
    return f"{thing} ({', '.join(states)})" if states else thing


def _put(board: HouseholdState, place: str) -> str:
    return f"put {board.held} {'in' if kind_of(place) in IN else 'on'} {place}"


def _steps(board: HouseholdState, place: str) -> int:
    """Return the number of commands needed to get there."""
    if board.at == place:
        return 0
    return 1 if board.house.room_of[place] == board.room else 2


def _nearest(board: HouseholdState, kind: str) -> str:
    """The first of the nearest places of a kind."""
    places = [name for name in board.house.room_of if kind_of(name) == kind]
    return min(places, key=lambda name: _steps(board, name))


def _target(board: HouseholdState) -> str:
    """Return the target place of the held thing; for `two`, a place that already has one of its
    kind."""
    errand, wanted, target = _current(board)
    if errand == "two":
        for name in board.house.room_of:
            if kind_of(name) == target and wanted in map(kind_of, board.things_at(name)):
                return name
    return _nearest(board, target)


def _fetched(board: HouseholdState) -> tuple[str, str]:
    """Return the nearest place and thing to fetch: a thing of the wanted kind that is not where it
    belongs."""
    errand, wanted, _ = _current(board)
    kept = _target(board) if errand == "two" else ""
    found = [
        (spot, thing)
        for thing, spot in zip(board.house.things, board.where, strict=True)
        if kind_of(thing) == wanted and (errand != "two" or spot != kept)
    ]
    return min(found, key=lambda one: _steps(board, one[0]))


def _at(board: HouseholdState, place: str) -> str | None:
    """The next command on the way to a place; None if one is there."""
    if board.at == place:
        return None
    room = board.house.room_of[place]
    return f"go to {place if room == board.room else room}"


def _opened(board: HouseholdState, place: str) -> str | None:
    """The next command until the place is reached and open; None if it is."""
    return _at(board, place) or (None if board.reaches(place) else f"open {place}")
