"""Plans for errands in a house with a clock, in the fewest minutes: a shortest way over what is done and where one is.

One thing is held at a time, each errand is about another kind of thing, and nothing is closed: a plan is an order of
deliveries, each with a thing, a device and a place to put it. Whoever is somewhere earlier is never later anywhere, so the
earliest minute is all that has to be kept of each set of errands and each place.
"""

from __future__ import annotations

from typing import NamedTuple

from verigym.envs.games.errand_plans import IN
from verigym.verifiers.games.household import (
    APPLIANCES,
    STATES,
    HouseholdState,
    is_run,
    kind_of,
)


class TimedDelivery(NamedTuple):
    """An errand by its number, the thing, the device (empty if none is needed), and the place where the thing ends."""

    errand: int
    thing: str
    device: str
    end: str


class TimedPlan(NamedTuple):
    """Commands, the minute at which they are over, and the number of deliveries that were compared."""

    commands: tuple[str, ...]
    minute: int
    tried: int


def plan_minutes(state: HouseholdState, *, nearest: bool = False) -> TimedPlan | None:
    """Return a plan that is over first, whatever the limit; None if what is held belongs to no errand that is to be run.

    With `nearest` each errand is run in the way that is over first, wherever that ends, and only their order is searched
    for; such a plan may take longer.
    """
    return _Search(state).plan(nearest)


class _Search:
    def __init__(self, state: HouseholdState) -> None:
        house = state.house
        assert house.clock is not None
        self.state, self.house, self.clock = state, house, house.clock
        self.spots = dict(zip(house.things, state.where, strict=True))
        self.errands = (house.errand, *house.more)
        self.room_of = house.room_of
        self.far, self.step = _ways(house.rooms, self.clock.walks)
        self.tried = 0
        places = house.room_of
        # Minutes between places, from each in turn; the first is where the player stands.
        self.start = state.at or state.room
        self.walks = {
            one: {other: self._walk(one, other) for other in places}
            for one in dict.fromkeys([self.start, *places])
        }
        held = kind_of(state.held)
        self.choices = []
        for errand, kind, place in self.errands:
            things = [state.held] if held == kind else self._things(kind)
            ends = [end for end in places if kind_of(end) == place]
            self.choices.append(
                [
                    (thing, device, ends)
                    for thing in things
                    for device in self._devices(errand, thing)
                ]
            )

    def _walk(self, one: str, other: str) -> int:
        if one == other:
            return 0
        return 1 + self.far[self.room_of.get(one, one), self.room_of[other]]

    def _things(self, kind: str) -> list[str]:
        return [thing for thing in self.house.things if kind_of(thing) == kind]

    def _devices(self, errand: str, thing: str) -> list[str]:
        if errand not in STATES or (thing, STATES[errand]) in self.state.states:
            return [""]
        return [name for name in self.room_of if kind_of(name) == APPLIANCES[errand]]

    def plan(self, nearest: bool) -> TimedPlan | None:
        state = self.state
        done = sum(is_run(state, errand) << i for i, errand in enumerate(self.errands))
        every = (1 << len(self.errands)) - 1
        first = range(len(self.errands))
        if state.held:
            kinds = [kind for _, kind, _ in self.errands]
            held = kind_of(state.held)
            if held not in kinds or done >> kinds.index(held) & 1:
                return None
            first = range(kinds.index(held), kinds.index(held) + 1)
        # For each set of errands and each spot the earliest minute, and how one came there.
        reached: list[dict[str, tuple[int, str, TimedDelivery | None]]] = [
            {} for _ in range(every + 1)
        ]
        reached[done][self.start] = (state.minute, "", None)
        for mask in range(done, every):
            for spot, (minute, _, _) in reached[mask].items():
                for i in first if mask == done else range(len(self.errands)):
                    if mask >> i & 1:
                        continue
                    there = reached[mask | 1 << i]
                    found = self._deliveries(i, spot, minute)
                    for over, thing, device, end in [min(found)] if nearest else found:
                        if end not in there or over < there[end][0]:
                            there[end] = over, spot, TimedDelivery(i, thing, device, end)
        spot = min(reached[every], key=lambda one: reached[every][one][0])
        minute, deliveries, mask = reached[every][spot][0], [], every
        while delivery := reached[mask][spot][2]:
            deliveries.append(delivery)
            spot, mask = reached[mask][spot][1], mask ^ 1 << delivery.errand
        return TimedPlan(self._commands(deliveries[::-1]), minute, self.tried)

    def _deliveries(self, number: int, spot: str, minute: int) -> list[tuple[int, str, str, str]]:
        """Return all ways to run an errand: when each is over, the thing, the device and the end."""
        found = []
        for thing, device, ends in self.choices[number]:
            at, now = spot, minute
            if self.spots[thing]:
                now += self.walks[at][self.spots[thing]] + 1
                at = self.spots[thing]
            if device:
                now = self.clock.done_by(device, now + self.walks[at][device])
                at = device
            from_here = self.walks[at]
            found += [(now + from_here[end] + 1, thing, device, end) for end in ends]
        self.tried += len(found)
        return found

    def _commands(self, deliveries: list[TimedDelivery]) -> tuple[str, ...]:
        room, at = self.state.room, self.state.at
        found: list[str] = []
        for number, thing, device, end in deliveries:
            verb = self.errands[number][0]
            put = f"put {thing} {'in' if kind_of(end) in IN else 'on'} "
            for place, command in (
                (self.spots[thing], f"take {thing} from "),
                (device, f"{verb} {thing} with "),
                (end, put),
            ):
                if not place:
                    continue
                while room != self.room_of[place]:
                    room, at = self.step[room, self.room_of[place]], ""
                    found.append(f"go to {room}")
                if at != place:
                    found.append(f"go to {place}")
                    at = place
                found.append(command + place)
        return tuple(found)


def _ways(
    rooms: list[str], walks: dict[tuple[str, str], int]
) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], str]]:
    """Return the minutes from room to room, and the room to go to first (Floyd and Warshall)."""
    far = {(room, room): 0 for room in rooms} | walks
    step = {(one, other): other for one, other in walks}
    for by in rooms:
        for one in rooms:
            for other in rooms:
                if (one, by) in far and (by, other) in far:
                    minutes = far[one, by] + far[by, other]
                    if minutes < far.get((one, other), minutes + 1):
                        far[one, other], step[one, other] = minutes, step[one, by]
    return far, step
