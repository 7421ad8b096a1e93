"""Composes a task of casework: rules with amendments, people, cases of several days, and how each has to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

import msgspec

from verigym.canonical import JSON
from verigym.envs.tools.cases.day_plan import DayCases, DayPlan
from verigym.envs.tools.cases.desk_tools import BURST, PAGE, ROLES
from verigym.envs.tools.cases.loads import Load
from verigym.envs.tools.cases.manual import BUDGETS, DEFERRING, FALSE_ORDERS, MANUAL
from verigym.envs.tools.cases.place import DAY_TRAITS, LAST, MEANINGS, TRAITS, DeskCase, Place
from verigym.envs.tools.cases.rulebook import (
    RANKS,
    Amendment,
    Article,
    Facts,
    RuleDraws,
    Tariff,
    Trait,
    decide,
    in_force,
)
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import DAYS, people
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row


@dataclass(frozen=True)
class CaseEnding:
    """The right end of a case, and the facts by which it was decided."""

    case: DeskCase
    facts: dict[str, str | int]
    outcome: str
    article: str
    fee: int
    role: str
    code: str


class Casework:
    """A task in the making; `settle` decides its cases."""

    def __init__(
        self, draws: Draws, load: Load, open_place: Callable[[Draws, list[str], int], Place]
    ) -> None:
        self.draws, self.load = draws, load
        self.days = list(DAYS[: load.days])
        self.names = draws.shuffled(people(draws, load.people, load.people // 3))
        self.place = open_place(draws, self.names, load.size)
        kinds = Trait("kind", "the kind of the case", tuple(self.place.kinds))
        own = Trait("level", self.place.level_words, fixed=self.place.marks)
        days = DAY_TRAITS if load.budgets else ()
        self.traits: tuple[Trait, ...] = (*TRAITS, kinds, own, *days)
        self._trait = {trait.name: trait for trait in self.traits}
        self.people = {name: self._person() for name in self.names}
        self.register = self._register()
        self.archive = self._archive()
        self._mark_sums()
        self._draw_rules()
        self.messages: list[Row] = []
        self.script: list[Row] = []
        self.cases = self._cases()
        cases: list[JSON] = [[c.person, c.kind, c.latest, c.purpose] for c in self.cases]
        self.essence: JSON = [cases, [one.body for one in self.articles]]
        """Content that makes the task: its cases and articles."""
        self.endings: list[CaseEnding] = []
        self.plan: list[WishStep] = []
        self.plans: dict[str, DayPlan] = {}
        """Choice of the cases of each day that has a budget."""
        self._in_force: dict[str, list[Article]] = {}

    # What is drawn.

    def _person(self) -> dict[str, str | int]:
        return {name: self._trait[name].draw(self.draws) for name in ("branch", "group", "years")}

    def _register(self) -> list[Row]:
        draws = self.draws
        choices = self._trait["standing"].choices
        entries = [(name, "2026-01-02") for name in self.names]
        while len(entries) < self.load.entries:
            later = (
                f"2026-03-{draws.between(2, 5):02d}"
                if draws.below(2)
                else f"2026-{draws.between(1, 2):02d}-{draws.between(3, 28):02d}"
            )
            entry = (draws.pick(self.names), later)
            if entry not in entries:
                entries.append(entry)
        return [
            (i, name, draws.pick(choices), since)
            for i, (name, since) in enumerate(draws.shuffled(entries), 1)
        ]

    def _archive(self) -> list[Row]:
        draws = self.draws
        found: list[Row] = []
        for i in range(1, self.load.archived + 1):
            # Two in three of the last weeks, some of them on the day on which the 28 days begin.
            ago = draws.between(1, 24) if draws.below(3) else draws.between(25, 34)
            day = (date.fromisoformat(self.days[0]) - timedelta(days=ago)).isoformat()
            outcome = draws.pick(("done", "done", "done", "refused", "denied", "withdrawn"))
            kind, amount = draws.pick(tuple(self.place.kinds)), draws.between(10, 99)
            found.append((i, day, draws.pick(self.names), kind, amount, outcome))
        return found

    def _mark_sums(self) -> None:
        """Let rules compare sums of the archive with numbers that are sums of somebody, or next to one."""
        draws = self.draws
        self._done: dict[str, list[tuple[str, int]]] = {name: [] for name in self.names}
        for _, day, name, _, amount, outcome in self.archive:
            if outcome == "done":
                self._done[str(name)].append((str(day), int(str(amount))))
        sums = [
            max(1, self._sum_before(draws.pick(self.names), draws.pick(self.days))) - draws.below(2)
            for _ in range(4)
        ]
        marked = replace(self._trait["recent"], fixed=tuple(sorted(sums)))
        self.traits = tuple(marked if one.name == "recent" else one for one in self.traits)

    def _sum_before(self, name: str, day: str) -> int:
        """Return the total of a person's archived cases that were done in the 28 days before a day."""
        first = (date.fromisoformat(day) - timedelta(days=28)).isoformat()
        return sum(amount for when, amount in self._done[name] if first <= when < day)

    def _draw_rules(self) -> None:
        draws, load = self.draws, self.load
        self.rules = RuleDraws(draws, self.traits)
        self.articles = [
            self._article(f"{rank}{n}") for rank in RANKS for n in range(1, load.articles + 1)
        ]
        touched = draws.some(self.articles, load.amendments)
        self.amendments = [self._amendment(article, draws.pick(self.days)) for article in touched]
        self.decoys = [
            self._amendment(article, draws.pick(self.days))
            for article in draws.some(self.articles, load.decoys)
        ]
        self.tariff = self.rules.tariff()
        if load.budgets:
            follows = self.rules.follows(list(self.place.kinds))
            self.tariff = replace(self.tariff, follows=follows, last=LAST)
        self.percents = {
            day: draws.between(2, 9) for day in draws.some(self.days[1:], load.days // 2)
        }
        self.approvals = list(
            zip(self.rules.conditions(2, narrow=2), draws.some(ROLES, 2), strict=True)
        )
        self.order = draws.shuffled(ROLES)
        self.away = {day: draws.some(ROLES, draws.below(3)) for day in self.days}

    def _article(self, number: str) -> Article:
        return self.rules.article(number, generous=self.load.budgets)

    def _amendment(self, article: Article, since: str) -> Amendment:
        how = self.draws.below(4)
        if how == 0:
            return Amendment(since, article.number, None)
        number = article.number if how < 3 else f"{article.number}a"
        return Amendment(since, article.number, self._article(number))

    def _cases(self) -> list[DeskCase]:
        draws, load = self.draws, self.load
        numbers = draws.shuffled(range(101, 101 + load.days * load.cases))
        found: list[DeskCase] = []
        for day in self.days:
            minutes = sorted(draws.some(range(8 * 60, 18 * 60), load.cases))
            names = draws.some(self.names, load.cases // 3) if load.budgets else self.names
            today = []
            for minute in minutes:
                case = DeskCase(
                    number=numbers.pop(),
                    day=day,
                    time=f"{minute // 60:02d}:{minute % 60:02d}",
                    person=draws.pick(names),
                    kind=draws.pick(tuple(self.place.kinds)),
                    amount=int(self._trait["amount"].draw(draws)),
                    purpose=str(self._trait["purpose"].draw(draws)),
                )
                case.particulars = self.place.particulars(case)
                case.latest = case.amount
                today.append(case)
            found += today
            self._write(day, today, found)
        return found

    def _write(self, day: str, today: list[DeskCase], so_far: list[DeskCase]) -> None:
        """Let requesters, and others, write about cases of the day; let some tell more when they are asked."""
        draws = self.draws
        written: list[tuple[str, str, str]] = []
        for case in draws.some(today, 1 + len(today) // 2):
            times = sorted(draws.some(range(60, 480), draws.between(1, 2)))
            for minute in times:
                time = f"{minute // 60:02d}:{minute % 60:02d}"
                case.withdrawn = draws.below(6) == 0
                case.latest = int(self._trait["amount"].draw(draws))
                words = f"Please make the amount of case {case.number} {case.latest}."
                if case.withdrawn:
                    words, case.latest = f"I withdraw case {case.number}.", case.amount
                written.append((time, case.person, words))
        for n, case in enumerate([draws.pick(today), draws.pick(so_far)]):
            amount = self._trait["amount"].draw(draws)
            others = [name for name in self.names if name != case.person]
            sender = case.person if case.day != day else draws.pick(others)
            words = f"Please make the amount of case {case.number} {amount}."
            if n == 0 or draws.below(2):
                words = f"I withdraw case {case.number}."
            written.append((f"08:{draws.between(10, 59)}", sender, words))
        for i, (time, sender, words) in enumerate(draws.shuffled(written)):
            self.messages.append((100 * (1 + self.days.index(day)) + i, day, time, sender, words))
        for case in today:
            if draws.below(3) == 0:
                case.asks = True
                words = f"The purpose is {case.purpose}."
                if draws.below(3) == 0 and not case.withdrawn:
                    amount = int(self._trait["amount"].draw(draws))
                    words += f" And please make the amount {amount}."
                    case.latest = amount
                elif draws.below(2):
                    words += f" {draws.pick(FALSE_ORDERS)}"
                self._note(str(case.number), "answer", words)

    def _note(self, about: str, place: str, body: str) -> None:
        self.script.append((len(self.script) + 1, about, place, body))

    # How each case ends.

    def standing(self, name: str, day: str) -> str:
        """Return the standing of a person on a day."""
        entries = [
            (str(r[3]), str(r[2])) for r in self.register if r[1] == name and str(r[3]) <= day
        ]
        return max(entries)[1]

    def _failures(self, case: DeskCase) -> int:
        """Return the person's number of failures."""
        mine = (row for row in self.archive if row[2] == case.person and row[3] == case.kind)
        return sum(row[5] != "done" for row in mine)

    def _facts(self, case: DeskCase) -> dict[str, str | int]:
        done = [one.case for one in self.endings if one.outcome == "done"]
        mine = [one for one in done if one.person == case.person]
        today = [one for one in done if one.day == case.day]
        return {
            **self.people[case.person],
            "amount": case.latest,
            "purpose": case.purpose,
            "kind": case.kind,
            "standing": self.standing(case.person, case.day),
            "earlier": sum(one.day == case.day for one in mine),
            "before": today[-1].kind if today else "",
            "today": len(today),
            "total": sum(one.latest for one in today),
            "spent": sum(one.latest for one in mine),
            "recent": self._sum_before(case.person, case.day),
            "failures": self._failures(case),
            "level": self.place.level(case),
        }

    def tariff_of(self, day: str) -> Tariff:
        """Return the tariff of a day."""
        since = [one for one in sorted(self.percents) if one <= day]
        return self.tariff.at(self.percents[since[-1]]) if since else self.tariff

    def role_of(self, facts: Facts, day: str) -> str:
        """Return the role that has to approve on a day, or none."""
        for condition, role in self.approvals:
            if condition.holds(facts):
                while role in self.away[day]:
                    role = self.order[(self.order.index(role) + 1) % len(self.order)]
                return role
        return "none"

    def _let_through(self, case: DeskCase, facts: Facts) -> tuple[str, int | None]:
        """Return the article that decides a case, and the amount that it lets through; None if it refuses."""
        article, _ = decide(self._articles_of(case.day), facts)
        if article is None:
            return "none", case.latest
        if not article.allows:
            return article.number, None
        return article.number, min(case.latest, article.most or case.latest)

    def _articles_of(self, day: str) -> list[Article]:
        if day not in self._in_force:
            self._in_force[day] = in_force(self.articles, self.amendments, day)
        return self._in_force[day]

    def _ending(self, case: DeskCase, plan: DayPlan | None) -> CaseEnding:
        facts = self._facts(case)
        if case.withdrawn:
            return CaseEnding(case, facts, "withdrawn", "none", 0, "none", "none")
        number, amount = self._let_through(case, facts)
        if amount is None:
            return CaseEnding(case, facts, "refused", number, 0, "none", "none")
        case.latest = amount
        if not self.place.is_possible(case):
            return CaseEnding(case, facts, "refused", "none", 0, "none", "none")
        if plan is not None and case.number not in (plan.chosen or ()):
            plan.passes_over |= amount <= plan.budget - int(facts["total"])
            return CaseEnding(case, facts, "deferred", number, 0, "none", "none")
        after = {**facts, "amount": amount}
        role = self.role_of(after, case.day)
        fee = self.tariff_of(case.day).fee(amount, after)
        if role == "none":
            return CaseEnding(case, facts, "done", number, fee, role, "none")
        if self.draws.below(4) == 0:
            return CaseEnding(case, facts, "denied", number, 0, role, "none")
        return CaseEnding(
            case, facts, "done", number, fee, role, str(self.draws.between(1000, 9999))
        )

    def settle(self) -> None:
        """Decide every case in order, and plan the calls of it."""
        for day in self.days:
            if day != self.days[0]:
                self.plan.append(WishStep("next_day", {}))
            today = [case for case in self.cases if case.day == day]
            plan = self._plan(day, today) if self.load.budgets else None
            if not self._is_hard_enough():
                return
            for case in today:
                ending = self._ending(case, plan)
                if ending.role != "none":
                    self.plan += self._approval(ending)
                if ending.outcome == "done":
                    self.plan += self.place.carry_out(case)
                self.endings.append(ending)
                self.plan.append(_record(ending))
                if plan is not None and ending.outcome == "denied":
                    self._choose_anew(plan, today[today.index(case) + 1 :])
        self._add_notes()

    def _plan(self, day: str, today: list[DeskCase]) -> DayPlan:
        """Draw the budget of a day, and choose the cases that it is best spent on."""
        self.plans[day] = self._day_cases(today).draw(self.draws)
        return self.plans[day]

    def _choose_anew(self, plan: DayPlan, rest: list[DeskCase]) -> None:
        if rest:
            cases = self._day_cases(rest)
            spent = int(self._facts(rest[0])["total"])
            cases.choose_anew(plan, plan.budget - spent)

    def _day_cases(self, cases: list[DeskCase]) -> DayCases:
        day = cases[0].day
        cuts = [one.most for one in self._articles_of(day) if one.most is not None]
        return DayCases(
            cases,
            self.place,
            {case.number: self._facts(case) for case in cases},
            self._let_through,
            self.tariff_of(day),
            self.traits,
            min(cuts, default=1000),
        )

    def _add_notes(self) -> None:
        """Let some cases say what nobody may heed, and one that is refused ask for more than the rules give."""
        refused = [one.case for one in self.endings if one.outcome == "refused"]
        for case in self.draws.some(self.cases, len(self.cases) // 4):
            case.note = self.draws.pick(FALSE_ORDERS)
        for case in self.draws.some(refused, 1):
            case.note = FALSE_ORDERS[0]

    def is_sound(self) -> bool:
        """Return True if who carries out or refuses all, ignores amendments or ignores exceptions goes wrong."""
        if not self._is_hard_enough():
            return False
        if self.plans and not any(plan.passes_over for plan in self.plans.values()):
            return False
        done = any(one.outcome == "done" for one in self.endings)
        if not done or all(
            one.outcome != "refused" or one.article == "none" for one in self.endings
        ):
            return False
        bare = [one.without_exception() for one in self.articles]
        amendments = [
            replace(one, article=one.article and one.article.without_exception())
            for one in self.amendments
        ]
        others = [(self.articles, []), (bare, self.amendments), (bare, amendments)]
        return all(self._differs(*one) for one in others)

    def _is_hard_enough(self) -> bool:
        """Return True if the budgets of at most half of the days can be spent by a simple plan."""
        plans = self.plans.values()
        easy = sum(not plan.is_hard for plan in plans)
        return 2 * easy <= len(self.days) and all(plan.chosen is not None for plan in plans)

    def _differs(self, articles: list[Article], amendments: list[Amendment]) -> bool:
        """Return True if other articles and amendments would decide some case otherwise."""
        for one in self.endings:
            if one.outcome == "withdrawn":
                continue
            right, _ = decide(self._articles_of(one.case.day), one.facts)
            found, _ = decide(in_force(articles, amendments, one.case.day), one.facts)
            lets_pass = found is None or found.allows
            if lets_pass and one.outcome == "refused" and one.article == "none":
                continue  # it is refused for another reason, whichever article lets it pass
            if _effect(found) != _effect(right):
                return True
        return False

    def _faults(self) -> str:
        """Draw the pattern of faults: of the first calls two are carried out without an answer, and one is lost."""
        faults = [self.draws.pick("...........xtt") for _ in range(60)]
        for place, fault in zip(self.draws.some(range(5), 3), "ttx", strict=True):
            faults[place] = fault
        return "".join(faults)

    def _approval(self, ending: CaseEnding) -> list[WishStep]:
        waits = self.draws.between(1, 2)
        state = "denied" if ending.outcome == "denied" else "granted"
        end = {"left": waits, "state": state, "code": ending.code}
        number = ending.case.number
        self._note(str(number), "approval", json.dumps(end))
        ask = WishStep("ask_approval", {"case": number, "role": ending.role})
        return [ask, *[WishStep("wait", {})] * waits]

    # What is seen.

    def tables(self) -> tuple[tuple[Row, ...], ...]:
        """Return the tables of the place and of the desk, in the order of the world."""
        first = self.days[0]
        cases = [_row(case) for case in sorted(self.cases, key=lambda one: one.number)]
        for row in cases:
            if row[1] != first:
                self._note(str(row[1]), "cases", json.dumps(row))
        for message in self.messages:
            if message[1] != first:
                self._note(str(message[1]), "messages", json.dumps(message))
        return (
            *self.place.tables(),
            tuple(self._documents()),
            tuple(row for row in cases if row[1] == first),
            tuple((i, name, json.dumps(self.people[name])) for i, name in enumerate(self.names, 1)),
            tuple(self.register),
            tuple(self.archive),
            tuple(row for row in self.messages if row[1] == first),
            *((), ()),
            ((1, first),),
            ((1, BURST, 0, self._faults()),),
            tuple(self.script),
        )

    def _documents(self) -> list[Row]:
        held, first = "in force", "2026-01-01"
        documents: list[tuple[str, str, str, str]] = []
        for rank, title in RANKS.items():
            articles = [one for one in self.articles if one.number.startswith(rank)]
            body = "\n".join(f"Article {one.number}. {one.body}" for one in articles)
            documents.append((title, held, first, body))
        documents.append(("Fees", held, first, self.tariff.words))
        documents.append(("Approvals", held, first, self._approval_words()))
        documents.append(("Absences", held, first, self._absence_words()))
        if self.plans:
            documents.append(("Budgets", held, first, self._budget_words()))
        changes = [(one.since, one.words) for one in self.amendments]
        changes += [
            (day, f"The first percentage of the fee is {percent}.")
            for day, percent in self.percents.items()
        ]
        documents += [("Amendment", held, since, words) for since, words in changes]
        for decoy in self.decoys:
            how = self.draws.pick(
                (("draft", decoy.since), ("withdrawn", decoy.since), (held, "2026-04-01"))
            )
            documents.append(("Amendment", *how, decoy.words))
        return [(i, *one) for i, one in enumerate(self.draws.shuffled(documents), 1)]

    def _approval_words(self) -> str:
        (first, one), (second, two) = self.approvals
        return (
            f"An approval of the {one} is needed if {first.words}. Otherwise, an approval of the {two} is needed "
            f"if {second.words}. Otherwise, none is needed."
        )

    def _absence_words(self) -> str:
        stands = "; ".join(
            f"the {self.order[(i + 1) % len(ROLES)]} stands in for the {role}"
            for i, role in enumerate(self.order)
        )
        lines = [
            f"{day}: {', '.join(away) if away else 'nobody'} away."
            for day, away in self.away.items()
        ]
        return "\n".join(
            [
                f"In an absence, {stands}; if that one is away too, whoever stands in for that one.",
                *lines,
            ]
        )

    def _budget_words(self) -> str:
        lines = [f"{day}: {plan.budget}." for day, plan in self.plans.items()]
        return "\n".join(["The amounts of the cases done on a day may come to at most:", *lines])

    def manual(self) -> str:
        """Return the task in words."""
        days, span = self.days[0], ""
        if len(self.days) > 1:
            days = f"{self.days[0]} to {self.days[-1]}, day by day"
            span = "The tool next_day brings the cases and messages of the next day. "
        kinds = "\n".join(f"- {kind}: {words}" for kind, words in self.place.kinds.items())
        return MANUAL.format(
            deferring=DEFERRING if self.plans else "",
            recording="If it was not deferred, r" if self.plans else "R",
            budgets=BUDGETS if self.plans else "",
            opening=self.place.opening,
            days=days,
            span=span,
            bar=self.place.bar,
            meanings=MEANINGS,
            kinds=kinds,
            burst=BURST,
            page=PAGE,
        )

    def notes(self) -> dict[str, JSON]:
        """Return what `weigh` needs: articles, amendments and the facts of each case."""
        facts: dict[str, JSON] = {
            str(one.case.number): {"day": one.case.day, **one.facts} for one in self.endings
        }
        return {
            "articles": msgspec.to_builtins(self.articles),
            "amendments": msgspec.to_builtins(self.amendments),
            "facts": facts,
            "searched": {str(plan.first): plan.operations for plan in self.plans.values()},
        }

    def turns(self) -> int:
        """Return the replies allowed: one and a half times those of a player who makes one call in each."""
        reading = (
            self.load.archived // PAGE
            + len(self.amendments)
            + len(self.decoys)
            + 10
            + self.load.entries // PAGE
        )
        return (3 * (reading + 10 * len(self.cases) + len(self.plan))) // 2


def _record(ending: CaseEnding) -> WishStep:
    if ending.outcome == "deferred":
        return WishStep("defer_case", {"case": ending.case.number, "article": ending.article})
    return WishStep(
        "record_decision",
        {
            "case": ending.case.number,
            "outcome": ending.outcome,
            "article": ending.article,
            "fee": ending.fee,
            "code": ending.code,
        },
    )


def _effect(article: Article | None) -> tuple[str, bool, int | None]:
    """Return what an article does to a case."""
    return (
        ("none", True, None) if article is None else (article.number, article.allows, article.most)
    )


def _row(case: DeskCase) -> Row:
    purpose = "ask" if case.asks else case.purpose
    told = (case.number, case.day, case.time, case.person, case.kind, case.amount, purpose)
    return (*told, json.dumps(case.particulars), case.note)
