"""Equal members of a group, which are judged once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from verigym.canonical import JSON, to_json


@dataclass(frozen=True)
class Distinct:
    """The different ones among a group's members."""

    members: list[JSON]
    count: list[int]
    """Number of equal members, for each of `members`."""
    place: list[int]
    """Index in `members`, for each member of the group."""


def distinct(members: Sequence[JSON]) -> Distinct:
    """Return the different ones among `members`, in order of first appearance."""
    raws = [to_json(one) for one in members]
    first = dict(zip(raws, members, strict=True))
    order = list(dict.fromkeys(raws))
    count = Counter(raws)
    return Distinct(
        [first[raw] for raw in order],
        [count[raw] for raw in order],
        [order.index(raw) for raw in raws],
    )
