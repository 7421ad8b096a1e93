"""`Hold`: what else limits the bookings of a dispatcher, and pairs of consignments that depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verigym.envs.tools.draws import Draws


@dataclass(frozen=True)
class ConsignmentPair:
    """Two consignments, by number, the lower first: `more` euros are added to the price of the second if the first
    is booked; None if not both of them may be booked."""

    first: int
    second: int
    more: int | None

    @property
    def words(self) -> str:
        """Return the pair in words."""
        if self.more is None:
            return f"{self.first} and {self.second}: not both"
        sign = "more" if self.more > 0 else "less"
        return f"{self.first} and {self.second}: {abs(self.more)} euros {sign}"


@dataclass(frozen=True)
class Hold:
    """Litres and crates of each consignment, how much of both may be booked in all, and pairs."""

    litres: tuple[int, ...]
    crates: tuple[int, ...]
    most_litres: int
    most_crates: int
    pairs: tuple[ConsignmentPair, ...]


@dataclass(frozen=True)
class HoldLoad:
    """Size of a task: consignments, articles of each rank, pairs, and consignments with a price that are not rejected, at
    least."""

    consignments: int
    articles: int
    pairs: int
    bookable: int


_DEAR = 40
"""Price, in euros, from which on two pairs may lower it: it stays above 0."""


def draw_pairs(draws: Draws, fees: Sequence[int | None], count: int) -> list[ConsignmentPair]:
    """Draw pairs of consignments, whose prices are `fees`; those of None are never booked and are in no pair."""
    places = [place for place, fee in enumerate(fees) if fee is not None]
    found: dict[tuple[int, int], ConsignmentPair] = {}
    into = [0] * len(fees)
    for _ in range(8 * count):
        if len(found) == count:
            break
        first, second = sorted(draws.some(places, 2))
        kind, more = draws.below(4), draws.between(5, 19)
        if into[second] == 2 or (first, second) in found:
            continue
        if kind == 1 and (fees[second] or 0) < _DEAR:
            continue
        into[second] += 1
        found[first, second] = ConsignmentPair(
            first + 1, second + 1, None if kind == 0 else -more if kind == 1 else more
        )
    return [found[key] for key in sorted(found)]
