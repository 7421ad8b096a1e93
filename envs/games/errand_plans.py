"""Plans for several errands in a house with the fewest commands, by A* over deliveries.

One thing is held at a time, so a plan is a row of deliveries: fetch a thing, heat, cool or clean it if asked, put it down
where it belongs. Which thing, which place and which order are open, and what was opened stays open.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from verigym.envs.games.planned import FuelPlan, Way, plan
from verigym.verifiers.games.household import (
    APPLIANCES,
    STATES,
    HouseholdPlan,
    HouseholdState,
    is_run,
    kind_of,
)

IN = ("basket", "bin", "cabinet", "drawer", "fridge", "microwave", "safe", "sink", "wardrobe")
"""Kinds of places that things are put in, not on."""


class Stop(NamedTuple):
    """A house between deliveries: where the player stands, what is open, how many things each errand still lacks and
    where they must go (empty if open), the things that were delivered, and what is held."""

    room: str
    at: str
    opened: frozenset[str]
    lacking: tuple[tuple[int, str], ...]
    delivered: frozenset[str]
    held: str


def plan_errands(state: HouseholdState, most: int = 1 << 30) -> FuelPlan | None:
    """Return a plan with the fewest commands; None if what is held belongs to no errand, or after `most` ways tried."""
    search = _Search(state)
    lacking = tuple(search.lacks(errand) for errand in search.errands)
    start = Stop(state.room, state.at, state.opened, lacking, frozenset(), state.held)
    if state.held and not any(
        kind_of(state.held) == thing and count
        for (_, thing, _), (count, _) in zip(search.errands, lacking, strict=True)
    ):
        return None
    found = plan(start, (), 1 << 30, search.ways, search.bound, most)
    return found and FuelPlan(search.commands(start, found.moves), found.fuel, found.tried)


class _Search:
    def __init__(self, state: HouseholdState) -> None:
        self.state = state
        self.house: HouseholdPlan = state.house
        self.errands = (self.house.errand, *self.house.more)
        self.spots = dict(zip(self.house.things, state.where, strict=True))
        wanted = {thing for _, thing, _ in self.errands}
        self.things = {
            kind: [thing for thing in self.house.things if kind_of(thing) == kind]
            for kind in wanted
        }
        self.targets = {
            place: [name for name in self.house.room_of if kind_of(name) == place]
            for _, _, place in self.errands
        }
        ends = {name for names in self.targets.values() for name in names} | {state.at}
        self.matters = {self.spots[t] for some in self.things.values() for t in some} | {state.at}
        # Fewest commands of a delivery for each errand, from where its thing lies; one more to get there, unless another
        # delivery may end at that place.
        self.least = [
            min(
                self._least(errand, thing, place) + (self.spots[thing] not in ends)
                for thing in self.things[errand[1]]
                for place in self.targets[errand[2]]
            )
            for errand in self.errands
        ]

    def lacks(self, errand: tuple[str, str, str]) -> tuple[int, str]:
        """Return the number of things that an errand lacks, and the place where they must go, if there is one."""
        if is_run(self.state, errand):
            return 0, ""
        if errand[0] != "two":
            return 1, ""
        begun = [name for name in self.targets[errand[2]] if self._holds(errand[1], name)]
        return (1, begun[0]) if begun else (2, "")

    def _holds(self, kind: str, place: str) -> bool:
        return any(self.spots[thing] == place for thing in self.things[kind])

    def bound(self, stop: Stop) -> int:
        left = sum(
            count * least for (count, _), least in zip(stop.lacking, self.least, strict=True)
        )
        if stop.held:  # no more than the walk and the putting down are certain
            kind = kind_of(stop.held)
            left -= sum(
                least - 1
                for errand, least in zip(self.errands, self.least, strict=True)
                if errand[1] == kind
            )
        return left

    def ways(self, stop: Stop, last: tuple[str, ...]) -> Iterator[Way]:
        for number, (errand, kind, place) in enumerate(self.errands):
            count, begun = stop.lacking[number]
            if not count or (stop.held and kind_of(stop.held) != kind):
                continue
            for thing in [stop.held] if stop.held else self.things[kind]:
                if thing in stop.delivered or (begun and self.spots[thing] == begun):
                    continue
                for end in [begun] if begun else self._ends(stop, place):
                    chosen = end if errand == "two" and count == 2 else ""
                    lacking = (count - 1, chosen)
                    yield from self._deliveries(stop, number, thing, end, lacking)

    def _deliveries(
        self, stop: Stop, number: int, thing: str, end: str, lacking: tuple[int, str]
    ) -> Iterator[Way]:
        held, house = stop.held, self.house
        for station in self._stations(self.errands[number][0], thing):
            room, at, opened, cost = stop.room, stop.at, stop.opened, 2 if not held else 1
            for place, opens in (
                ("" if held else self.spots[thing], True),
                (station, False),
                (end, True),
            ):
                if not place:
                    continue
                there = house.room_of[place]
                cost += 0 if at == place else 1 if room == there else 2
                room, at = there, place
                if opens and place in house.opens and place not in opened:
                    cost += 1
                    opened |= {place}
            left = (*stop.lacking[:number], lacking, *stop.lacking[number + 1 :])
            after = Stop(room, at, opened, left, stop.delivered | {thing}, "")
            yield Way((str(number), thing, station, end), after, cost + bool(station), ())

    def _stations(self, errand: str, thing: str) -> list[str]:
        """The places at which a thing can be given the state that an errand asks for; one empty name if none is needed."""
        if errand not in STATES or (thing, STATES[errand]) in self.state.states:
            return [""]
        return [name for name in self.house.room_of if kind_of(name) == APPLIANCES[errand]]

    def commands(self, start: Stop, deliveries: tuple[str, ...]) -> tuple[str, ...]:
        """Return the commands of deliveries: the number of the errand, the thing, where it is changed and where it ends."""
        room, at, opened, held = start.room, start.at, start.opened, start.held
        found: list[str] = []
        parts = iter(deliveries)
        for number, thing, station, end in zip(parts, parts, parts, parts, strict=True):
            verb = self.errands[int(number)][0]
            for place, command, opens in (
                ("" if held else self.spots[thing], f"take {thing} from ", True),
                (station, f"{verb} {thing} with ", False),
                (end, f"put {thing} {'in' if kind_of(end) in IN else 'on'} ", True),
            ):
                if not place:
                    continue
                found += self._walk(room, at, place)
                room, at = self.house.room_of[place], place
                if opens and place in self.house.opens and place not in opened:
                    found.append(f"open {place}")
                    opened |= {place}
                found.append(command + place)
            held = ""
        return tuple(found)

    def _walk(self, room: str, at: str, place: str) -> list[str]:
        if at == place:
            return []
        there = self.house.room_of[place]
        return [f"go to {place}"] if there == room else [f"go to {there}", f"go to {place}"]

    def _ends(self, stop: Stop, kind: str) -> list[str]:
        """The places of a kind; of those alike in a room, at which nothing else is to be done, the first."""
        found, met = [], set()
        for name in self.targets[kind]:
            alike = (self.house.room_of[name], name in self.house.opens)
            if name in self.matters or name in stop.opened or name == stop.at:
                found.append(name)
            elif alike not in met:
                met.add(alike)
                found.append(name)
        return found

    def _least(self, errand: tuple[str, str, str], thing: str, end: str) -> int:
        """Fewest commands to take a thing, do what is asked and put it down, with all places open."""
        at, commands = self.spots[thing], 2
        if not at:  # in hand
            return 1
        stations = self._stations(errand[0], thing)
        commands += bool(stations[0])
        routes = [[at, station, end] if station else [at, end] for station in stations]
        walks = [
            sum(
                len(self._walk(self.house.room_of[one], one, other))
                for one, other in pairwise(route)
            )
            for route in routes
        ]
        return commands + min(walks)
