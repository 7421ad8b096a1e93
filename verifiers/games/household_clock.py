"""Minutes in the household adventure: how long ways between rooms and the use of devices take, and when devices are busy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from verigym.canonical import JSON
from verigym.errors import TaskError

MOST_MINUTES = 10_000


@dataclass(frozen=True, slots=True)
class Clock:
    """The minutes that there are, ways between rooms with their minutes, and devices.

    A way leads in both directions, and only ways can be gone. A device is its name, the minutes that its use takes, and
    the minute from which and that until which it is busy: whoever uses it in between waits first.
    """

    limit: int
    ways: tuple[tuple[str, str, int], ...]
    devices: tuple[tuple[str, int, int, int], ...]
    walks: dict[tuple[str, str], int] = field(init=False, compare=False, repr=False)
    uses: dict[str, tuple[int, int, int]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        walks = {(one, other): minutes for one, other, minutes in self.ways}
        walks |= {(other, one): minutes for one, other, minutes in self.ways}
        object.__setattr__(self, "walks", walks)
        object.__setattr__(self, "uses", {name: tuple(rest) for name, *rest in self.devices})

    def done_by(self, device: str, minute: int) -> int:
        """Return the minute at which a use that is begun at `minute` is over."""
        takes, busy_from, free_from = self.uses[device]
        return (free_from if busy_from <= minute < free_from else minute) + takes


def clock_of(
    reference: Mapping[str, JSON], rooms: Collection[str], devices: Collection[str]
) -> Clock | None:
    """Return the clock that `minutes`, `ways` and `devices` of a reference describe; None without `minutes`.

    Raises TaskError unless the ways connect all `rooms` and exactly the `devices` of the house are described.
    """
    limit = reference.get("minutes")
    if limit is None:
        return None
    if type(limit) is not int or not 1 <= limit <= MOST_MINUTES:
        raise TaskError(f"household: minutes must be 1 to {MOST_MINUTES}, got {limit!r}")
    ways = tuple(_way(one, rooms) for one in _listed(reference, "ways"))
    pairs = {frozenset(one[:2]) for one in ways}
    if len(pairs) != len(ways):
        raise TaskError("household: two ways between the same rooms")
    met = set(list(rooms)[:1])
    while more := {room for pair in pairs if pair & met for room in pair - met}:
        met |= more
    if met != set(rooms):
        raise TaskError("household: the ways must connect all rooms")
    used = tuple(_device(one) for one in _listed(reference, "devices"))
    if sorted(one[0] for one in used) != sorted(devices):
        raise TaskError(f"household: devices must describe each of {sorted(devices)}")
    return Clock(limit, ways, used)


def _listed(reference: Mapping[str, JSON], name: str) -> list[JSON]:
    raw = reference.get(name)
    if not isinstance(raw, list | tuple) or len(raw) > 500:
        raise TaskError(f"household: with minutes, {name} must be a list of at most 500")
    return list(raw)


def _way(raw: JSON, rooms: Collection[str]) -> tuple[str, str, int]:
    if isinstance(raw, list | tuple) and len(raw) == 3:
        one, other, minutes = raw
        if one in rooms and other in rooms and one != other and _is_time(minutes, 1):
            return str(one), str(other), int(str(minutes))
    raise TaskError(f"household: a way is [room, other room, minutes], got {raw!r}")


def _device(raw: JSON) -> tuple[str, int, int, int]:
    if isinstance(raw, list | tuple) and len(raw) == 4 and isinstance(raw[0], str):
        name, takes, begins, ends = raw
        if _is_time(takes, 1) and _is_time(begins, 0) and _is_time(ends, int(str(begins))):
            return name, int(str(takes)), int(str(begins)), int(str(ends))
    raise TaskError(f"household: a device is [name, minutes, busy from, free from], got {raw!r}")


def _is_time(value: JSON, least: int) -> bool:
    return type(value) is int and least <= value <= MOST_MINUTES
