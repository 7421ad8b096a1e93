"""Errands and rooms of the household in words."""

from __future__ import annotations

from typing import Any

from verigym.envs.games.errand_plans import IN

_ERRANDS = {
    "put": "put {a} {thing} {into} {b} {place}",
    "two": "put two things of the kind {thing} {into} one {place}",
    "heat": "heat {a} {thing} and put it {into} {b} {place}",
    "cool": "cool {a} {thing} and put it {into} {b} {place}",
    "clean": "clean {a} {thing} and put it {into} {b} {place}",
    "light": "look at {a} {thing} in the light: hold it while you are at a lamp that is switched on",
}


def map_room(room: str, places: list[list[Any]], things: dict[str, str]) -> str:
    """Return the places of a room with their things, in words."""
    lines = []
    for name, where, opens in places:
        if where == room:
            there = ", ".join(thing for thing, spot in things.items() if spot == name)
            lines.append(f"{name}{' (closed)' if opens else ''}: {there or 'nothing'}")
    return f"{room}: " + "; ".join(lines) + "."


def say_errand(errand: str, thing: str, place: str) -> str:
    """Return an errand in words."""
    return _ERRANDS[errand].format(
        thing=thing,
        place=place,
        a="an" if thing[0] in "aeiou" else "a",
        b="an" if place[:1] in tuple("aeiou") else "a",
        into="in" if place in IN else "on",
    )
