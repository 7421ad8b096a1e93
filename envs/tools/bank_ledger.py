"""`BankLedger`: accounts in the making, from which errands take what they are about."""

from __future__ import annotations

from dataclasses import dataclass

from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import people
from verigym.envs.tools.wishes import Goal, added
from verigym.envs.tools.world import Row

ACCOUNTS = (
    *("checking", "savings", "holiday", "household", "garden", "repairs"),
    *("travel", "rental", "workshop", "reserve"),
)
SHOPS = ("Copper Kettle", "Harbour Books", "Green Grocer", "Old Mill", "Night Cinema", "City Gym")
_NOTES = ("rent", "present", "ticket", "repair", "course", "loan", "share", "fee")


@dataclass(frozen=True)
class BankSize:
    """Size of a bank; `namesakes` of the people share a first name with another."""

    wishes: int
    accounts: int
    people: int
    namesakes: int
    payments: int


class BankLedger:
    """A bank in the making. An account is `fixed` when an errand depends on its balance, and `open` for
    errands that only move some of it; no errand does the one after another did the other."""

    def __init__(self, draws: Draws, level: BankSize) -> None:
        self.draws = draws
        self.names = people(draws, level.people, level.namesakes)
        self.free_names = draws.shuffled(self.names)
        names = ACCOUNTS[: level.accounts]
        self.accounts: list[Row] = [
            (i, name, draws.between(150, 900) * 10) for i, name in enumerate(names, 1)
        ]
        self.open = list(names)
        self.moved: dict[str, int] = {}
        """Change of each balance by the errands."""
        self.payees: list[Row] = [
            (i, name, f"NE{draws.between(10, 99)} {draws.between(1000, 9999)}")
            for i, name in enumerate(draws.shuffled([*self.names, *SHOPS]), 1)
        ]
        self.free_shops = draws.shuffled(SHOPS)
        self.payments: list[Row] = []
        for _ in range(level.payments):
            party = draws.pick(SHOPS) if draws.below(2) else draws.pick(self.names)
            self.add_payment(draws.pick(names), -draws.between(5, 200), party, draws.pick(_NOTES))
        self.standing: list[Row] = [
            (i, draws.pick(names), payee, 20 * draws.between(1, 30), draws.between(1, 28))
            for i, payee in enumerate(draws.some([*self.names, *SHOPS], 3 + level.wishes), 1)
        ]
        self.free_standing = draws.shuffled(self.standing)
        endings = draws.some(range(1000, 10_000), len(names))
        self.cards: list[Row] = [
            (i, name, str(ending), 50 * draws.between(2, 20), "active")
            for i, (name, ending) in enumerate(zip(names, endings, strict=True), 1)
        ]
        self.free_cards = draws.shuffled(self.cards)

    def add_payment(self, account: str, amount: int, party: str, note: str) -> Row:
        """Add a payment that was made; no two payments are alike."""
        day = f"2026-02-{self.draws.between(1, 28):02d}"
        row = (len(self.payments) + 1, account, amount, party, day, note)
        self.payments.append(row)
        return row

    def person(self) -> str | None:
        """Return a person whom no errand is about."""
        return self.free_names.pop() if self.free_names else None

    def spend(self, account: str, amount: int, party: str, note: str) -> Goal:
        """Pay out of an open account: the payment as a goal, the balance noted."""
        self.moved[account] = self.moved.get(account, 0) - amount
        return added("payments", account=account, amount=-amount, party=party, note=note)

    def fix(self) -> str | None:
        """Return an account that no errand has touched, and none will."""
        untouched = [name for name in self.open if name not in self.moved]
        if len(self.open) < 2 or not untouched:
            return None  # one stays open for the others
        name = self.draws.pick(untouched)
        self.open.remove(name)
        return name

    def balance(self, account: str) -> int:
        """Return the balance at the start."""
        return next(int(str(row[2])) for row in self.accounts if row[1] == account)

    def tables(self) -> tuple[tuple[Row, ...], ...]:
        """Return all tables of the bank."""
        parts = (self.accounts, self.payments, self.payees, self.standing, self.cards, ())
        return tuple(map(tuple, parts))
