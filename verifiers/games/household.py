"""Rules of the household adventure: rooms, places in them, things in or on the places, and an errand.

One is in a room, at one of its places or at none, and holds at most one thing. Many places open and
close; what is in a closed one can be neither seen nor reached. A fridge cools what is held, a microwave
heats it, a sink cleans it; a lamp is switched on and off. In the manner of ALFWorld (Shridhar et al.
2021, arXiv 2010.03768); rules and words are our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from verigym.canonical import JSON
from verigym.errors import TaskError
from verigym.verifiers.games.household_clock import Clock, clock_of

APPLIANCES = {"heat": "microwave", "cool": "fridge", "clean": "sink"}
STATES = {"heat": "hot", "cool": "cold", "clean": "clean"}
ERRANDS = ("put", "two", "light", *APPLIANCES)

_FORMS = (
    re.compile(r"(go) to (.+)"),
    re.compile(r"(open|close|use) (.+)"),
    re.compile(r"(take) (.+) from (.+)"),
    re.compile(r"(put) (.+) (?:in|on|in/on|into|onto) (.+)"),
    re.compile(r"(heat|cool|clean) (.+) with (.+)"),
)

Move = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HouseholdPlan:
    """Everything that stays fixed. A place is its name, its room, and whether it opens; a kind is
    a name without its number. An errand is one of `ERRANDS`, a kind of thing, and a kind of place
    (empty for `light`); `more` are errands beside the first, and `clock` says what commands take, if minutes are counted."""

    places: tuple[tuple[str, str, bool], ...]
    things: tuple[str, ...]
    errand: tuple[str, str, str]
    more: tuple[tuple[str, str, str], ...] = ()
    clock: Clock | None = None
    room_of: dict[str, str] = field(init=False, compare=False, repr=False)
    opens: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "room_of", {name: room for name, room, _ in self.places})
        object.__setattr__(
            self, "opens", frozenset(name for name, _, opens in self.places if opens)
        )

    @property
    def rooms(self) -> list[str]:
        """The rooms, in order of their first place."""
        return list(dict.fromkeys(self.room_of.values()))


@dataclass(frozen=True, slots=True)
class HouseholdState:
    """The house as it is: `at` is empty in the middle of a room, `held` if nothing is.

    `where` has the place of each thing, empty for the one held; `states` pairs of a thing and hot, cold
    or clean; `opened` places that are open and lamps that are on; `minute` is 0 if there is no clock.
    """

    house: HouseholdPlan
    room: str
    where: tuple[str, ...]
    at: str = ""
    held: str = ""
    states: frozenset[tuple[str, str]] = frozenset()
    opened: frozenset[str] = frozenset()
    minute: int = 0

    def reaches(self, place: str) -> bool:
        """Return True if the player stands at the place and it is not closed."""
        return self.at == place and (place in self.opened or place not in self.house.opens)

    def things_at(self, place: str) -> list[str]:
        """Return the things there, seen or not."""
        return [t for t, spot in zip(self.house.things, self.where, strict=True) if spot == place]


def kind_of(name: str) -> str:
    """Return the name without its number."""
    return name.rpartition(" ")[0]


class HouseholdRules:
    """`{"places": [["fridge 1", "kitchen", true], ...], "things": {"egg 1": "fridge 1"}, "room": "kitchen",
    "errand": ["cool", "egg", "table"]}`, or `errands`, a list of them that must all be run.

    A move is `go to fridge 1` (a place here, or a room), `open fridge 1`, `close fridge 1`, `take egg 1 from
    fridge 1`, `put egg 1 on table 1`, `heat egg 1 with microwave 1` (and so `cool`, fridge; `clean`, sink) or
    `use lamp 1`. Errands: `put` a thing of the kind to a place of the kind, `two` of them to one such place,
    `heat`, `cool` or `clean` one and put it there, or hold one at a lamp that is on (`light`).

    With `"minutes": 90, "ways": [["kitchen", "study", 4], ...], "devices": [["fridge 1", 6, 10, 25], ...]` one can go to
    rooms along these ways alone, they and the devices take the minutes that they say (`household_clock.py`), and
    everything else takes one. A command that takes more than is left is illegal. One may then take only what an errand
    that is not run yet asks for, and put it only where that runs an errand; `two` and `light` are not among them.
    """

    def start(self, reference: Mapping[str, JSON]) -> HouseholdState:
        first, *more = _errands(reference)
        places = _places(reference)
        devices = [name for name, _, _ in places if kind_of(name) in APPLIANCES.values()]
        clock = clock_of(reference, dict.fromkeys(room for _, room, _ in places), devices)
        house = HouseholdPlan(places, *_things(reference), first, tuple(more), clock)
        if clock and any(errand in ("two", "light") for errand, _, _ in (first, *more)):
            raise TaskError("household: with minutes, an errand is put, heat, cool or clean")
        spots = reference["things"]
        assert isinstance(spots, Mapping)
        room = reference.get("room")
        if room not in house.rooms:
            raise TaskError(f"household: the room must be one of {house.rooms}, got {room!r}")
        if missing := set(spots.values()) - house.room_of.keys():
            raise TaskError(f"household: no place {sorted(map(str, missing))[0]!r}")
        return HouseholdState(house, str(room), tuple(map(str, spots.values())))

    def read(self, move: JSON) -> Move | None:
        if not isinstance(move, str) or len(move) > 120 or any(sign in move for sign in ";,\n"):
            return None  # several moves, for who reads them to part
        text = " ".join(move.lower().split()).rstrip(".").replace(" the ", " ")
        return next((found.groups() for form in _FORMS if (found := form.fullmatch(text))), None)

    def legal(self, state: HouseholdState, move: Move) -> bool:
        if not self._possible(state, move):
            return False
        clock = state.house.clock
        return clock is None or done_by(state, move) <= clock.limit

    def _possible(self, state: HouseholdState, move: Move) -> bool:
        verb, name = move[0], move[-1]
        house = state.house
        if verb == "go":
            if name in house.room_of:
                return house.room_of[name] == state.room and state.at != name
            if house.clock is not None:
                return (state.room, name) in house.clock.walks
            return name in house.rooms and name != state.room
        if state.at != name:
            return False
        if verb in ("open", "close"):
            return name in house.opens and (name in state.opened) == (verb == "close")
        if verb == "use":
            return kind_of(name) == "lamp"
        if verb == "take":
            here = move[1] in house.things and state.where[house.things.index(move[1])] == name
            if house.clock is not None and not any(
                kind == kind_of(move[1]) and not is_run(state, (errand, kind, place))
                for errand, kind, place in (house.errand, *house.more)
            ):
                return False
            return not state.held and state.reaches(name) and here
        if not state.held or move[1] != state.held:
            return False
        if verb == "put":
            if house.clock is not None and not _runs_errand(state, name):
                return False
            return state.reaches(name) and kind_of(name) != "lamp"
        return kind_of(name) == APPLIANCES[verb]

    def apply(self, state: HouseholdState, move: Move) -> HouseholdState:
        if state.house.clock is not None:
            state = replace(state, minute=done_by(state, move))
        verb, name = move[0], move[-1]
        if verb == "go":
            if name in state.house.room_of:
                return replace(state, at=name)
            return replace(state, room=name, at="")
        if verb in ("open", "close", "use"):
            return replace(state, opened=state.opened ^ {name})
        thing = move[1]
        if verb in ("take", "put"):
            index = state.house.things.index(thing)
            spot, held = ("", thing) if verb == "take" else (name, "")
            where = (*state.where[:index], spot, *state.where[index + 1 :])
            return replace(state, where=where, held=held)
        states = state.states | {(thing, STATES[verb])}
        if verb != "clean":
            states -= {(thing, "cold" if verb == "heat" else "hot")}
        return replace(state, states=states)

    def won(self, state: HouseholdState) -> bool:
        return all(is_run(state, errand) for errand in (state.house.errand, *state.house.more))


def done_by(state: HouseholdState, move: Move) -> int:
    """Return the minute at which a possible move is over, in a house with a clock."""
    clock, verb, name = state.house.clock, move[0], move[-1]
    assert clock is not None
    if verb in APPLIANCES:
        return clock.done_by(name, state.minute)
    return state.minute + clock.walks.get((state.room, name), 1)


def _runs_errand(state: HouseholdState, spot: str) -> bool:
    """Return True if putting down what is held at `spot` runs an errand that is not run yet."""
    return any(
        kind == kind_of(state.held)
        and place == kind_of(spot)
        and (errand not in STATES or (state.held, STATES[errand]) in state.states)
        and not is_run(state, (errand, kind, place))
        for errand, kind, place in (state.house.errand, *state.house.more)
    )


def is_run(state: HouseholdState, one: tuple[str, str, str]) -> bool:
    """Return True if the house is as the errand asks."""
    errand, thing, place = one
    if errand == "light":
        lit = state.at in state.opened and kind_of(state.at) == "lamp"
        return lit and kind_of(state.held) == thing
    spots = [
        spot
        for name, spot in zip(state.house.things, state.where, strict=True)
        if kind_of(name) == thing
        and kind_of(spot) == place
        and (errand not in STATES or (name, STATES[errand]) in state.states)
    ]
    return len(set(spots)) < len(spots) if errand == "two" else bool(spots)


def _named(name: JSON) -> bool:
    return isinstance(name, str) and re.fullmatch(r"[a-z ]{1,40} [0-9]{1,3}", name) is not None


def _places(reference: Mapping[str, JSON]) -> tuple[tuple[str, str, bool], ...]:
    raw = reference.get("places")
    if not isinstance(raw, list | tuple) or not 1 <= len(raw) <= 500:
        raise TaskError("household: places must be a list of 1 to 500")
    places = []
    for one in raw:
        if not isinstance(one, list | tuple) or len(one) != 3 or not _named(one[0]):
            raise TaskError(f"household: a place is [name, room, opens], got {one!r}")
        if not isinstance(one[1], str) or type(one[2]) is not bool:
            raise TaskError(f"household: a place is [name, room, opens], got {one!r}")
        places.append((str(one[0]), one[1], one[2]))
    names = {name for name, _, _ in places}
    if len(names) != len(places) or names & {room for _, room, _ in places}:
        raise TaskError("household: places and rooms must have different names")
    return tuple(places)


def _things(reference: Mapping[str, JSON]) -> tuple[tuple[str, ...]]:
    raw = reference.get("things")
    if not isinstance(raw, Mapping) or not 1 <= len(raw) <= 500 or not all(map(_named, raw)):
        raise TaskError('household: things must be an object such as {"egg 1": "fridge 1"}')
    return (tuple(raw),)


def _errands(reference: Mapping[str, JSON]) -> list[tuple[str, str, str]]:
    raw = reference.get("errands", [reference.get("errand")])
    if not isinstance(raw, list | tuple) or not 1 <= len(raw) <= 20:
        raise TaskError(f"household: errands must be a list of 1 to 20, got {raw!r}")
    return [_errand(one) for one in raw]


def _errand(raw: JSON) -> tuple[str, str, str]:
    if isinstance(raw, list | tuple) and len(raw) == 3 and raw[0] in ERRANDS:
        return str(raw[0]), str(raw[1]), str(raw[2])
    raise TaskError(f"household: an errand is one of {ERRANDS}, a thing and a place, got {raw!r}")
