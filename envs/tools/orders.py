"""Further questions about the almanac: one figure, and sums over a few pages."""

from __future__ import annotations

from verigym.envs.tools.almanac import Almanac, AlmanacQuestion


def weight(a: Almanac) -> AlmanacQuestion:
    """Look up one figure."""
    firm = a.draws.pick(a.firms)
    words = f"How many kilograms does one crate of {firm.good} from {firm.name} weigh?"
    return AlmanacQuestion(words, firm.weight, 2)


def two_weights(a: Almanac) -> AlmanacQuestion:
    """Add two figures."""
    one, two = a.draws.some(a.firms, 2)
    words = (
        f"How many kilograms do one crate of {one.good} from {one.name} and one crate of {two.good} from "
        f"{two.name} weigh together?"
    )
    return AlmanacQuestion(words, one.weight + two.weight, 5)


def growth(a: Almanac) -> AlmanacQuestion:
    """Compare the growth of three towns between two counts."""
    towns = a.draws.some(a.towns, 3)
    names = [town.name for town in towns]
    words = (
        f"How many inhabitants do {names[0]}, {names[1]} and {names[2]} have together by the count of 2026, and "
        "how many did they have together by the count of 2011? Give the first number minus the second; it may "
        "be negative."
    )
    return AlmanacQuestion(words, sum(town.now - town.then for town in towns), 9)
