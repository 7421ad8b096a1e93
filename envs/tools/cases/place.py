"""`Place`: what a world brings to casework: kinds of cases, what they are about, and how they are carried out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from verigym.canonical import JSON
from verigym.envs.tools.cases.rulebook import Trait
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row


@dataclass
class DeskCase:
    """A request of a person: as it was written, and the latest word on it."""

    number: int
    day: str
    time: str
    person: str
    kind: str
    amount: int
    purpose: str
    note: str = ""
    particulars: dict[str, JSON] = field(default_factory=dict)
    latest: int = 0
    """Amount after all messages and answers, and after the article that decided."""
    asks: bool = False
    """True if the purpose is told only when asked."""
    withdrawn: bool = False


PlacePart = list[JSON] | dict[str, int] | set[int]
"""A part of a place that changes when cases are carried out."""


class Place(ABC):
    """A world in the making, which follows what is carried out; one for each task."""

    opening: str
    """Description of the work, in a sentence or two."""
    kinds: Mapping[str, str]
    """Kinds of cases, each with the way to carry it out, in words."""
    bar: ClassVar[str]
    """Sentence that says when a case cannot be carried out though the articles let it pass."""
    level_words: str
    """The number of the place that rules ask about, such as a balance."""
    marks: ClassVar[tuple[int, ...]]
    """Numbers that rules compare it with."""
    core: ClassVar[tuple[str, ...]]
    """Tools of the world that the cases need."""

    def __init__(self, draws: Draws, names: list[str], size: int) -> None:
        self.draws = draws
        self.names = names
        self.size = size

    @abstractmethod
    def particulars(self, case: DeskCase) -> dict[str, JSON]:
        """Draw what a case is about, besides its amount."""

    @abstractmethod
    def level(self, case: DeskCase) -> int:
        """Return the number that `level_words` stands for, just before the case is decided."""

    @abstractmethod
    def is_possible(self, case: DeskCase) -> bool:
        """Return False if a case cannot be carried out, as `bar` says."""

    @abstractmethod
    def carry_out(self, case: DeskCase) -> list[WishStep]:
        """Return the calls that carry a case out, and follow what they change."""

    @abstractmethod
    def touched(self, case: DeskCase) -> list[PlacePart]:
        """Return what `carry_out` may change, so that a search can put it back."""

    @abstractmethod
    def tables(self) -> tuple[tuple[Row, ...], ...]:
        """Return the tables of the world as they are at the start."""


def undo_of(parts: Sequence[PlacePart]) -> Callable[[], None]:
    """Return a function that puts parts of a place back to what they are now."""
    before = [(part, part.copy()) for part in parts]

    def undo() -> None:
        for part, was in before:
            part.clear()
            if isinstance(part, list):
                part.extend(was)
            else:
                part.update(was)  # type: ignore[arg-type]

    return undo


TRAITS = (
    Trait("amount", "the amount", (), 20, 200),
    Trait("purpose", "the purpose", ("school", "repair", "travel", "health", "culture")),
    Trait("standing", "the person's standing", ("green", "amber", "red")),
    Trait("branch", "the person's branch", ("north", "south", "harbour")),
    Trait("group", "the person's group", ("staff", "member", "guest")),
    Trait("years", "the person's membership in years", (), 0, 30),
    Trait(
        "earlier",
        "the number of the person's cases carried out earlier on the same day",
        fixed=(0, 0, 1),
    ),
    Trait("spent", "the person's sum of all days", fixed=(60, 140, 220, 300)),
    Trait("recent", "the person's sum of 28 days", fixed=(150, 250, 350, 450)),
    Trait("failures", "the person's number of failures", fixed=(0, 1, 1, 2)),
)
"""Traits of every case; `kind` and the number of the place come to them."""

DAY_TRAITS = (
    Trait(
        "today", "the number of all cases carried out earlier on the same day", fixed=(0, 1, 2, 3)
    ),
    Trait(
        "total",
        "the total amount of all cases carried out earlier on the same day",
        fixed=(60, 130, 200, 300),
    ),
)
"""Traits of the cases of all persons, of tasks with budgets."""
LAST = "the kind of the case that was carried out last before it on the same day, whoever asked for that"
"""Words for the kind by which the fee rises in tasks with budgets."""
MEANINGS = """\
- the person's standing: that of their latest entry in the register that is not after the day of the case;
- the person's sum of all days: the total amount of their cases that you have carried out before, today or earlier;
- the person's sum of 28 days: the total amount of their cases in the archive that ended as "done" on one of the 28 \
days before the day of the case;
- the person's number of failures: how many of their cases in the archive, of the same kind as the case, did not end \
as "done", on any day"""
"""Meaning of the traits that have to be worked out."""
