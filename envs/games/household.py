"""Household adventure: run an errand in a house whose things have to be found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.games.errand_plans import IN, plan_errands
from verigym.envs.games.errand_words import map_room, say_errand
from verigym.envs.games.homes import ROOMS, THINGS, HomeDraws, draw_errands, furnished, spots_for
from verigym.envs.games.replayed import Play, ReplayedGame
from verigym.envs.games.timed_errands import plan_minutes
from verigym.envs.games.timed_homes import SIZES as TIMED
from verigym.envs.games.timed_homes import draw_timed
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
# At level 7: things that are not wanted, errands, ways that a search for the fewest commands tries at least and at
# most, and commands to spare in percent. Higher levels have a clock (`timed_homes.py`).
SEVERAL = {7: (30, 3, range(300, 1500), 15)}
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
places with their numbers, as in "take cup 2 from table 1". You have {turns} commands, {spare} more than the errands take at least.
The places by room, and the things that are there now. All that can be closed is closed:
{map}"""


class Household(ReplayedGame):
    """The environment. An action is a command such as `open fridge 1`; six kinds of errands.

    The turns are enough to look into every place of the house once and then to run the errand. From level 7 on there
    are several errands, the prompt says where everything is, and the turns, or from level 8 on the minutes, are the
    fewest that all errands take, in any order and with any thing and place, or hardly more.
    """

    id: ClassVar[str] = "verigym/games/household-v0"
    game: ClassVar[str] = "household"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")

    @override
    def draw(self, rng: np.random.Generator, level: int) -> tuple[str, dict[str, Any]]:
        """Draw a house in which nothing of the wanted kind is at its target yet."""
        if level in TIMED:
            return draw_timed(rng, level, self.wants)
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
            rooms=", ".join(["kitchen", *rest]),
            errand=say_errand(errand, wanted, target),
            turns=turns,
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
        if house.clock is not None:
            lines.append(f"It is minute {board.minute} of {house.clock.limit}.")
        return "\n".join(lines)

    @override
    def position(self, board: HouseholdState) -> JSON:
        """Leaves out what was seen before, which changes nothing."""
        states = [list(pair) for pair in sorted(board.states)]
        place = [board.room, board.at, board.held, list(board.where), states, sorted(board.opened)]
        return place if board.house.clock is None else [*place, board.minute]

    @override
    def moves(self, board: HouseholdState) -> list[str]:
        found = self._moves(board)
        if board.house.clock is None:
            return found
        rules = RULES["household"]
        return [command for command in found if rules.legal(board, rules.read(command))]

    @override
    def lost(self, board: HouseholdState) -> bool:
        """Return True if there is no time for any command."""
        return (
            board.house.clock is not None
            and not RULES["household"].won(board)
            and not self.moves(board)
        )

    def _moves(self, board: HouseholdState) -> list[str]:
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
                and (house.clock or (board.held, STATES[verb]) not in board.states)
            ):
                found.append(f"{verb} {board.held} with {at}")
        return found

    @override
    def best(self, board: HouseholdState) -> str | None:
        """Return the next command of a player who knows the place of everything."""
        if RULES["household"].won(board):
            return None
        if board.house.clock is not None:
            return _timed(board)
        return _planned(board) if board.house.more else _next_command(board)

    @override
    def work(self, state: Play) -> int:
        """Count the things that are compared with the wanted kind, or the places with the target; for several errands
        the deliveries that a search for the fewest commands or minutes tries."""
        board: HouseholdState = state.board
        if board.house.clock is not None:
            timed = None if state.moves else plan_minutes(board)
            return max(1, timed.tried) if timed else 1
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


def _timed(board: HouseholdState) -> str | None:
    """Return the next command of a plan with the fewest minutes; None if there is no time for it."""
    if board not in _KNOWN:
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.clear()
        found, clock = plan_minutes(board), board.house.clock
        if found is None or clock is None or found.minute > clock.limit:
            return None
        _remember(board, found.commands)
    return _KNOWN[board]


def _remember(board: HouseholdState, commands: tuple[str, ...]) -> None:
    rules = RULES["household"]
    for command in commands:
        _KNOWN[board] = command
        board = rules.apply(board, rules.read(command))


def _planned(board: HouseholdState) -> str:
    """The next command of a plan with the fewest; of a simple player if the plan cannot be found."""
    if board not in _KNOWN:
        if len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.clear()
        found = plan_errands(board, MOST_TRIED)
        if found is None:
            return _next_command(board)
        _remember(board, found.moves)
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
    """Draw houses and errands for different kinds of things, until a plan takes some search."""
    others, count, tries, spare = SEVERAL[level]
    rooms = list(ROOMS)
    while True:
        draws = HomeDraws(rng.random(8 * others + 200).tolist())
        places = furnished(draws, rooms)
        errands = draw_errands(draws, places, ("two", "heat", "cool", "clean"), count)
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
        if found and found.tried in tries:
            break
    turns = found.fuel + found.fuel * spare // 100
    prompt = _PROMPT_SEVERAL.format(
        rooms=", ".join(rooms),
        errands="; ".join(say_errand(*one) for one in errands),
        turns=turns,
        spare=turns - found.fuel,
        map="\n".join(map_room(room, places, things) for room in rooms),
    )
    limits = {"turns": turns, "max_moves": turns}
    return prompt, {
        **house,
        "errands": [list(one) for one in errands],
        **limits,
        "essence": essence,
    }


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
