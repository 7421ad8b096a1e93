"""Things and facts about them, for twenty questions. The table is our own (`things.txt`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from verigym.errors import TaskError


@dataclass(frozen=True)
class ThingTable:
    """Names of things in order; for each fact, in words, the set of things of which it holds.

    A set is a number: bit i stands for thing i.
    """

    names: tuple[str, ...]
    holders: dict[str, int]

    def facts(self, thing: int) -> list[str]:
        """Return the facts that hold of a thing."""
        return [fact for fact, holders in self.holders.items() if holders >> thing & 1]


@cache
def table() -> ThingTable:
    """Return the table, read once. Raises TaskError if the file says something twice or of nothing."""
    text = (files("verigym.envs.games") / "things.txt").read_text(encoding="ascii")
    words: dict[str, str] = {}
    names: list[str] = []
    holders: dict[str, int] = {}
    kind: list[str] = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            kind = line.strip("[]").split()
        elif " = " in line:
            short, _, long = line.partition(" = ")
            words[short], holders[long] = long, 0
        else:
            name, _, own = line.partition(":")
            marks = own.split()
            not_held = {mark[1:] for mark in marks if mark.startswith("-")}
            held = {*kind, *marks} - not_held - {f"-{mark}" for mark in not_held}
            if name in names or not held <= words.keys():
                raise TaskError(f"things.txt: {name!r} is there twice, or has unknown facts")
            for mark in held:
                holders[words[mark]] |= 1 << len(names)
            names.append(name)
    return ThingTable(tuple(names), holders)


def best_split(among: int, facts: list[tuple[str, int]]) -> tuple[str, int] | None:
    """Return the fact that leaves the fewest things in the worst case; the first of equals. None if none splits."""
    best, fewest = None, among.bit_count()
    for fact, holders in facts:
        yes = (among & holders).bit_count()
        worst = max(yes, among.bit_count() - yes)
        if worst < fewest:
            best, fewest = (fact, holders), worst
    return best


def most_questions(among: int, facts: list[tuple[str, int]]) -> int:
    """Return the number of questions that the best split needs to leave one thing, in the worst
    case.

    Raises TaskError if two things differ in no fact.
    """
    if among.bit_count() <= 1:
        return 0
    facts = splitting(among, facts)
    split = best_split(among, facts)
    if split is None:
        raise TaskError("two things differ in no fact")
    return 1 + max(
        most_questions(among & split[1], facts), most_questions(among & ~split[1], facts)
    )


def splitting(among: int, facts: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the facts that hold of some of the things but not of all; what splits a part splits the whole."""
    return [one for one in facts if 0 != among & one[1] != among]
