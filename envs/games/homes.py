"""Houses for the household adventure: rooms with places, and things in their usual places."""

from __future__ import annotations

from typing import Any

from verigym.verifiers.games.household import APPLIANCES, kind_of

# Each room: kinds of places, how many at least and at most, and whether they open.
ROOMS: dict[str, tuple[tuple[str, int, int, bool], ...]] = {
    "kitchen": (
        ("fridge", 1, 1, True),
        ("microwave", 1, 1, True),
        ("sink", 1, 1, False),
        ("counter", 1, 2, False),
        ("table", 0, 1, False),
        ("cabinet", 2, 3, True),
        ("drawer", 1, 2, True),
        ("bin", 0, 1, False),
    ),
    "living room": (
        ("sofa", 1, 1, False),
        ("armchair", 0, 2, False),
        ("table", 1, 2, False),
        ("lamp", 1, 1, False),
        ("shelf", 1, 2, False),
        ("cabinet", 0, 2, True),
    ),
    "bedroom": (
        ("bed", 1, 2, False),
        ("nightstand", 1, 2, False),
        ("wardrobe", 1, 1, True),
        ("lamp", 1, 1, False),
        ("drawer", 1, 2, True),
        ("shelf", 0, 1, False),
    ),
    "study": (
        ("desk", 1, 2, False),
        ("lamp", 1, 1, False),
        ("shelf", 1, 3, False),
        ("drawer", 1, 3, True),
        ("safe", 0, 1, True),
        ("bin", 0, 1, False),
    ),
    "bathroom": (
        ("sink", 1, 1, False),
        ("cabinet", 1, 2, True),
        ("shelf", 1, 2, False),
        ("bin", 0, 1, False),
        ("basket", 1, 1, True),
    ),
}

# More rooms of houses with a clock.
WIDE_ROOMS: dict[str, tuple[tuple[str, int, int, bool], ...]] = {
    **ROOMS,
    "pantry": (
        ("fridge", 1, 1, True),
        ("shelf", 1, 2, False),
        ("counter", 1, 1, False),
        ("basket", 0, 1, True),
    ),
    "workshop": (
        ("sink", 1, 1, False),
        ("desk", 1, 1, False),
        ("cabinet", 1, 1, True),
        ("table", 0, 1, False),
    ),
    "guest room": (
        ("microwave", 1, 1, True),
        ("bed", 1, 1, False),
        ("nightstand", 1, 1, False),
        ("table", 0, 1, False),
    ),
}

FOOD = ("apple", "bagel", "carrot", "egg", "potato", "tomato")
DISHES = ("bowl", "cup", "fork", "knife", "pan", "plate", "spoon")
SMALL = ("book", "card", "key", "newspaper", "pen", "phone", "statue", "vase", "watch")
WASHED = ("cloth", "sponge", "towel")

# What each errand is about.
THINGS = {
    "put": (*FOOD, *DISHES, *SMALL, *WASHED),
    "two": (*FOOD, *DISHES, *SMALL, *WASHED),
    "light": SMALL,
    "heat": FOOD,
    "cool": FOOD,
    "clean": (*DISHES, "apple", "carrot", "cloth", "potato", "tomato"),
}


class HomeDraws:
    """Numbers drawn beforehand, taken one by one; a value for each choice."""

    def __init__(self, numbers: list[float]) -> None:
        self._next = iter(numbers)

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        return int(next(self._next) * n)

    def pick(self, things: Any) -> Any:
        """Return one of the items, drawn at random."""
        return things[self.below(len(things))]


def furnished(draws: HomeDraws, rooms: list[str]) -> list[list[Any]]:
    """Return the places in the rooms: name, room, and whether it opens. Kinds are numbered through the house."""
    places = []
    counts: dict[str, int] = {}
    for room in rooms:
        for kind, least, most, opens in WIDE_ROOMS[room]:
            for _ in range(least + draws.below(most - least + 1)):
                counts[kind] = counts.get(kind, 0) + 1
                places.append([f"{kind} {counts[kind]}", room, opens])
    return places


def draw_errands(
    draws: HomeDraws, places: list[list[Any]], errands: tuple[str, ...], count: int
) -> list[tuple[str, str, str]]:
    """Return errands of these names, each about another kind of thing, that end at places of the house."""
    kinds = sorted({kind_of(name) for name, _, _ in places} - {"lamp", *APPLIANCES.values()})
    drawn: list[tuple[str, str, str]] = []
    while len(drawn) < count:
        errand = draws.pick(errands)
        thing = draws.pick(THINGS[errand])
        if thing not in [one[1] for one in drawn]:
            drawn.append((errand, thing, draws.pick(kinds)))
    return drawn


def spots_for(kind: str, places: list[list[Any]]) -> list[str]:
    """Return the places where things of a kind may be: food and dishes in the kitchen, towels in
    the bathroom, other things in the other rooms; anywhere if the house has no such room."""
    rooms = {room for _, room, _ in places}
    if kind in (*FOOD, *DISHES):
        fitting = {"kitchen"}
    elif kind in WASHED:
        fitting = {"bathroom"}
    else:
        fitting = rooms - {"kitchen", "bathroom"}
    fitting = fitting & rooms or rooms
    return [name for name, room, _ in places if room in fitting and not name.startswith("lamp")]
