"""`BankPlace`: accounts of an association, whose members ask for payments, transfers, limits and more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.tools.bank_ledger import ACCOUNTS, SHOPS
from verigym.envs.tools.cases.place import DeskCase, Place, PlacePart
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row


class BankPlace(Place):
    """Follows the balances, which rules ask about."""

    opening: str = (
        "You manage the bank accounts of an association; its people send requests, called cases. All amounts are "
        "whole euros."
    )
    kinds: Mapping[str, str] = {
        "payment": "pay the payee from the account, with the note 'case N', where N is the number of the case",
        "transfer": "transfer the amount from the account to the target",
        "limit": "raise the daily limit of the card of the account by the amount",
        "collection": "request the amount from the payee, with the note 'case N'",
        "subscription": "create a standing order of the amount from the account to the payee, on the day of the "
        "month that the case names",
    }
    bar: ClassVar[str] = (
        "If a case is to be carried out and is a payment or transfer of more than its account holds, refuse it, with "
        'the article "none".'
    )
    level_words: str = "the balance of the account of the case"
    marks: ClassVar[tuple[int, ...]] = (150, 250, 350, 450)
    core: ClassVar[tuple[str, ...]] = (
        *("list_accounts", "list_payments", "pay", "transfer", "create_standing_order"),
        *("list_standing_orders", "list_cards", "set_card_limit", "request_money", "list_requests"),
    )

    def __init__(self, draws: Draws, names: list[str], size: int) -> None:
        super().__init__(draws, names, size)
        self.accounts = list(ACCOUNTS[: 3 + size])
        self.start = {name: draws.between(15, 60) * 10 for name in self.accounts}
        self.balances = dict(self.start)
        self.limits = {name: 50 * draws.between(2, 20) for name in self.accounts}
        self.first_limits = dict(self.limits)
        self.cards = draws.shuffled(self.accounts)
        self.payees = draws.shuffled(SHOPS)

    @override
    def particulars(self, case: DeskCase) -> dict[str, JSON]:
        draws = self.draws
        account = draws.pick(self.accounts)
        about: dict[str, JSON] = {"account": account}
        if case.kind in ("payment", "collection", "subscription"):
            about["payee"] = draws.pick(self.payees)
        if case.kind == "transfer":
            about["target"] = draws.pick([name for name in self.accounts if name != account])
        if case.kind == "subscription":
            about["day_of_month"] = draws.between(1, 28)
        return about

    @override
    def level(self, case: DeskCase) -> int:
        return self.balances[str(case.particulars["account"])]

    @override
    def is_possible(self, case: DeskCase) -> bool:
        return case.kind not in ("payment", "transfer") or case.latest <= self.level(case)

    @override
    def carry_out(self, case: DeskCase) -> list[WishStep]:
        about, amount = case.particulars, case.latest
        account, note = str(about["account"]), f"case {case.number}"
        arguments: dict[str, JSON] = {"account": account, "amount": amount}
        if case.kind == "payment":
            self.balances[account] -= amount
            return [WishStep("pay", {**arguments, "payee": about["payee"], "note": note})]
        if case.kind == "transfer":
            target = str(about["target"])
            self.balances[account] -= amount
            self.balances[target] += amount
            moved: dict[str, JSON] = {"source": account, "target": target, "amount": amount}
            return [WishStep("transfer", moved)]
        if case.kind == "limit":
            self.limits[account] += amount
            card = self.cards.index(account) + 1
            return [WishStep("set_card_limit", {"card": card, "limit": self.limits[account]})]
        if case.kind == "collection":
            asked: dict[str, JSON] = {"payee": about["payee"], "amount": amount, "note": note}
            return [WishStep("request_money", asked)]
        regular = {**arguments, "payee": about["payee"], "day": about["day_of_month"]}
        return [WishStep("create_standing_order", regular)]

    @override
    def touched(self, case: DeskCase) -> list[PlacePart]:
        return [self.balances, self.limits]

    @override
    def tables(self) -> tuple[tuple[Row, ...], ...]:
        draws = self.draws
        accounts: list[Row] = [
            (i, name, self.start[name]) for i, name in enumerate(self.accounts, 1)
        ]
        payments: list[Row] = [
            (
                i,
                draws.pick(self.accounts),
                -draws.between(5, 200),
                draws.pick(SHOPS),
                "2026-02-20",
                "",
            )
            for i in range(1, 6 + 6 * self.size)
        ]
        payees: list[Row] = [
            (i, name, f"NE{draws.between(10, 99)} {draws.between(1000, 9999)}")
            for i, name in enumerate(self.payees, 1)
        ]
        standing: list[Row] = [
            (i, draws.pick(self.accounts), name, 20 * draws.between(1, 9), draws.between(1, 28))
            for i, name in enumerate(self.payees[:4], 1)
        ]
        endings = draws.some(range(1000, 10_000), len(self.cards))
        cards: list[Row] = [
            (i, name, str(ending), self.first_limits[name], "active")
            for i, (name, ending) in enumerate(zip(self.cards, endings, strict=True), 1)
        ]
        return tuple(map(tuple, (accounts, payments, payees, standing, cards, ())))
