"""Further questions about the almanac: one figure, sums over a few pages, and lists of orders."""

from __future__ import annotations

from verigym.envs.tools.almanac import Almanac, AlmanacQuestion, carriage_of


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


def orders(a: Almanac, n: int) -> AlmanacQuestion:
    """Add up `n` orders, some with carriage, some limited by weight."""
    lines: list[str] = []
    total = 0
    for number in range(1, n + 1):
        firm = a.draws.pick(a.firms)
        if a.draws.below(2):
            carrier, crates = a.draws.pick(a.carriers), a.draws.between(4, 30)
            total += crates * firm.price + carriage_of(carrier, crates)
            lines.append(
                f"{number}. {crates} crates of {firm.good} from {firm.name}, carried by {carrier.name}"
            )
        else:
            most = a.draws.between(700, 4000)
            total += most // firm.weight * firm.price
            lines.append(
                f"{number}. as many whole crates of {firm.good} from {firm.name} as weigh at most {most} "
                "kilograms, not carried by anyone"
            )
    words = (
        "What do these orders cost together, in euros? Add the price of the crates and, if a carrier is named, "
        "its carriage; a carrier's discount applies to its carriage only.\n"
    )
    return AlmanacQuestion(words + "\n".join(lines), total, 12 * n)
