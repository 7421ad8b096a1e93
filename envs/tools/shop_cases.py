"""`ShopPlace`: the orders of a shop, whose customers ask for cancellations, returns, vouchers and more."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.canonical import JSON
from verigym.envs.tools.cases.place import DeskCase, Place, PlacePart
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import address
from verigym.envs.tools.shop_floor import PRODUCTS, STREETS, VARIANTS
from verigym.envs.tools.shop_policy import STATES
from verigym.envs.tools.tool import Tool, rows
from verigym.envs.tools.wishes import WishStep
from verigym.envs.tools.world import Row


def list_charges(db: sqlite3.Connection) -> JSON:
    """Return what orders were charged."""
    return rows(db, "SELECT * FROM charges ORDER BY id")


def list_vouchers(db: sqlite3.Connection) -> JSON:
    """Return the vouchers that were given."""
    return rows(db, "SELECT * FROM vouchers ORDER BY id")


BOOKS = (
    Tool("list_charges", "List what orders were charged.", {}, list_charges, ("charges",)),
    Tool("list_vouchers", "List the vouchers given.", {}, list_vouchers, ("vouchers",)),
)
"""Tools that show what `charge_order` and `give_voucher` did."""


class ShopPlace(Place):
    """Follows orders and items, which rules ask about."""

    opening: str = (
        "You work for a shop, whose customers send requests, called cases; each is about an order. All amounts are "
        "whole euros."
    )
    kinds: Mapping[str, str] = {
        "cancellation": "cancel the order",
        "address": "send the order to the street that the case names",
        "return": "take the item back that the case names",
        "voucher": "give the person, who is a customer, a voucher of the amount, with the request 'return'",
        "surcharge": "charge the order the amount",
    }
    bar: ClassVar[str] = (
        "If a case is to be carried out, but its order is another customer's, or it is a cancellation of an order that "
        "is sent, delivered or cancelled, or a return of an item that is returned already, refuse it, with the article "
        '"none".'
    )
    level_words: str = (
        "the sum of the prices of those items of the order that are in the state bought"
    )
    marks: ClassVar[tuple[int, ...]] = (40, 70, 100, 130)
    core: ClassVar[tuple[str, ...]] = (
        *("find_customers_by_name", "list_orders", "read_order", "cancel_order", "change_street"),
        *("return_item", "charge_order", "give_voucher", "list_charges", "list_vouchers"),
    )

    def __init__(self, draws: Draws, names: list[str], size: int) -> None:
        super().__init__(draws, names, size)
        self.customers: list[Row] = [
            (i, name, address(name, "post.example"), draws.pick(STREETS).split()[0])
            for i, name in enumerate(sorted(names), 1)
        ]
        self.number = {str(row[1]): int(str(row[0])) for row in self.customers}
        self.products: list[Row] = []
        for name, kind in PRODUCTS.items():
            for variant in draws.some(VARIANTS, 2):
                values = (kind, draws.between(9, 60), draws.between(1, 9))
                self.products.append((len(self.products) + 1, name, variant, *values))
        self.orders: dict[int, list[JSON]] = {}
        self.items: dict[int, list[JSON]] = {}
        for name in [*names, *(draws.pick(names) for _ in range(5 * size))]:
            self._order(self.number[name])
        self.start = [tuple(map(tuple, rows.values())) for rows in (self.orders, self.items)]

    def _order(self, customer: int) -> None:
        draws, number = self.draws, len(self.orders) + 101
        state, street = draws.pick(STATES), f"{draws.pick(STREETS)} {draws.between(1, 99)}"
        delivered = "2026-02-10" if state == "delivered" else ""
        self.orders[number] = [number, customer, "2026-01-20", state, delivered, street]
        for _ in range(draws.between(1, 4)):
            product, item = draws.pick(self.products), len(self.items) + 1
            self.items[item] = [item, number, product[0], product[4], "bought"]

    @override
    def particulars(self, case: DeskCase) -> dict[str, JSON]:
        draws, me = self.draws, self.number[case.person]
        strange = draws.below(8) == 0
        fits = [number for number, row in self.orders.items() if (row[1] == me) != strange]
        order = draws.pick(fits)
        about: dict[str, JSON] = {"order": order}
        if case.kind == "address":
            about["street"] = f"{draws.pick(STREETS)} {draws.between(100, 199)}"
        if case.kind == "return":
            about["item"] = draws.pick([i for i, row in self.items.items() if row[1] == order])
        return about

    def _about(self, case: DeskCase) -> list[JSON]:
        return self.orders[int(str(case.particulars["order"]))]

    @override
    def level(self, case: DeskCase) -> int:
        order = case.particulars["order"]
        kept = [row for row in self.items.values() if row[1] == order and row[4] == "bought"]
        return sum(int(str(row[3])) for row in kept)

    @override
    def is_possible(self, case: DeskCase) -> bool:
        order = self._about(case)
        if order[1] != self.number[case.person]:
            return False
        if case.kind == "cancellation":
            return order[3] in STATES[:2]
        return case.kind != "return" or self._item(case)[4] == "bought"

    def _item(self, case: DeskCase) -> list[JSON]:
        return self.items[int(str(case.particulars["item"]))]

    @override
    def carry_out(self, case: DeskCase) -> list[WishStep]:
        order, about = self._about(case), case.particulars
        if case.kind == "cancellation":
            order[3] = "cancelled"
            return [WishStep("cancel_order", {"order": order[0]})]
        if case.kind == "address":
            return [WishStep("change_street", {"order": order[0], "street": about["street"]})]
        if case.kind == "return":
            self._item(case)[4] = "returned"
            return [WishStep("return_item", {"item": about["item"]})]
        if case.kind == "voucher":
            given: dict[str, JSON] = {"request": "return", "amount": case.latest}
            return [WishStep("give_voucher", {"customer": order[1], **given})]
        return [WishStep("charge_order", {"order": order[0], "amount": case.latest})]

    @override
    def touched(self, case: DeskCase) -> list[PlacePart]:
        item = [self._item(case)] if case.kind == "return" else []
        return [self._about(case), *item]

    @override
    def tables(self) -> tuple[tuple[Row, ...], ...]:
        orders, items = self.start
        talk: Row = (1, 0, 0, '{"email": "", "requests": []}')
        return (tuple(self.customers), orders, items, tuple(self.products), (), (), (), (), (talk,))
