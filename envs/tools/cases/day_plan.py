"""The cases of a day that its budget is best spent on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from verigym.envs.tools.cases.budget import BudgetWay, Offer, WaySearch, draw_budget
from verigym.envs.tools.cases.place import DeskCase, Place, undo_of
from verigym.envs.tools.cases.rulebook import Facts, Tariff, Trait, ValueClasses
from verigym.envs.tools.draws import Draws

_COUNTED = ("earlier", "spent", "level", "today", "total")
"""Traits that depend on what was carried out before."""


@dataclass
class DayPlan:
    """Budget of a day, and the cases that it is best spent on; `first` is the first case of the day."""

    first: int
    budget: int
    is_hard: bool
    chosen: set[int] | None = None
    """Numbers of the cases to be carried out; None if the search for them took too long."""
    operations: int = 0
    passes_over: bool = False
    """True if a case was deferred that what was left would have paid for."""

    def follow(self, chosen: set[int] | None, operations: int) -> None:
        """Take over a choice that took so many operations to find."""
        self.chosen = chosen
        self.operations += operations


class DayCases:
    """The cases of a day that are left, whose best choice is searched for.

    `facts` are those of each case as it is now; `let_through` gives the article that decides a case and the amount
    that it lets through, None if it refuses; `least` is the smallest amount that an article cuts to.
    """

    def __init__(
        self,
        cases: Sequence[DeskCase],
        place: Place,
        facts: Mapping[int, Facts],
        let_through: Callable[[DeskCase, Facts], tuple[str, int | None]],
        tariff: Tariff,
        traits: Sequence[Trait],
        least: int,
    ) -> None:
        self._least = least
        self._cases, self._place, self._let_through = cases, place, let_through
        self._tariff = tariff
        self._facts = facts
        self._asked = [case.latest for case in cases]
        self._parts = [place.touched(case) for case in cases]
        own = {case.person: facts[case.number] for case in cases}
        self._done = {name: [int(f["earlier"]), int(f["spent"])] for name, f in own.items()}
        first = facts[cases[0].number]
        self._last = [str(first["before"])]
        self._counts = [int(first["today"]), int(first["total"])]
        self._classes = ValueClasses(trait for trait in traits if trait.name in _COUNTED)
        self._known: dict[tuple[object, ...], Offer | None] = {}

    def draw(self, draws: Draws) -> DayPlan:
        """Draw a budget for the day, and return the plan for it."""
        search = WaySearch(self, len(self._cases))
        drawn = draw_budget(draws, search)
        self._reset()
        plan = DayPlan(self._cases[0].number, drawn.budget, is_hard=drawn.is_hard)
        plan.follow(self._numbers(drawn.way), search.operations)
        return plan

    def choose_anew(self, plan: DayPlan, left: int) -> None:
        """Change the plan to the best choice for what is left of the budget."""
        search = WaySearch(self, len(self._cases))
        way = search.best(left)
        self._reset()
        plan.follow(self._numbers(way), search.operations)

    def _numbers(self, way: BudgetWay | None) -> set[int] | None:
        count = len(self._cases)
        if way is None:
            return None
        return {case.number for i, case in enumerate(self._cases) if way.has(i, count)}

    def limits(self, place: int) -> Offer | None:
        """Return the least amount of a case after the articles, and its fee if nothing lowers it."""
        case, asked = self._cases[place], self._asked[place]
        if case.withdrawn:
            return None
        return min(asked, self._least), self._tariff.most_of(asked)

    def kind(self, place: int) -> str:
        """Return the kind of a case; of place -1, the kind carried out last before."""
        return self._cases[place].kind if place >= 0 else self._last[0]

    def more(self, before: str, kind: str) -> int:
        """Return what the fee of a kind rises by right after another."""
        return self._tariff.more(before, kind)

    def _reset(self) -> None:
        for case, asked in zip(self._cases, self._asked, strict=True):
            case.latest = asked

    def offer(self, place: int) -> Offer | None:
        """Return the amount and the fee of a case decided now; None if it cannot be carried out."""
        case = self._cases[place]
        if case.withdrawn:
            return None
        earlier, spent = self._done[case.person]
        now = {"earlier": earlier, "spent": spent, "level": self._place.level(case)}
        now["today"], now["total"] = self._counts
        last = self._last[-1]
        key = (place, last, *self._classes.of(now))
        if key not in self._known:
            case.latest = self._asked[place]
            facts = {**self._facts[case.number], **now, "before": last}
            self._known[key] = self._judged(case, facts)
        offered = self._known[key]
        if offered is None:
            return None
        case.latest = offered[0]
        return offered if self._place.is_possible(case) else None

    def _judged(self, case: DeskCase, facts: Facts) -> Offer | None:
        _, amount = self._let_through(case, facts)
        if amount is None:
            return None
        return amount, self._tariff.fee(amount, {**facts, "amount": amount})

    def take(self, place: int) -> Callable[[], None]:
        """Carry out a case that has an offer, and return a function that undoes this."""
        case = self._cases[place]
        amount, done = case.latest, self._done[case.person]
        undo = undo_of(self._parts[place])
        self._place.carry_out(case)
        counts = self._counts

        def add(one: int, more: int) -> None:
            done[0] += one
            done[1] += more
            counts[0] += one
            counts[1] += more

        def back() -> None:
            undo()
            self._last.pop()
            add(-1, -amount)

        self._last.append(case.kind)
        add(1, amount)

        return back
