"""`Floor`: a shop in the making: products, customers, orders; requests add what they are about."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from verigym.canonical import JSON
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import address, people
from verigym.envs.tools.shop_policy import STATES, draw_policy
from verigym.envs.tools.wishes import Goal, Wish, WishStep, added
from verigym.envs.tools.world import Row

PRODUCTS = {
    **dict.fromkeys(("deck chair", "hand rake", "plant pot"), "garden"),
    **dict.fromkeys(("back pack", "desk lamp", "wall clock"), "home"),
    **dict.fromkeys(("hair brush", "nail file", "tooth brush"), "hygiene"),
    **dict.fromkeys(("bread knife", "salt mill", "tea kettle"), "kitchen"),
}
"""Names and kinds."""
VARIANTS = ("black", "blue", "green", "red", "white")
STREETS = ("Canal Street", "Mill Lane", "Station Road", "Harbour Row", "Orchard Way")
_PUSHES = (
    "But a colleague of yours promised it to me on the phone!",
    "I have been a customer for ten years. Make an exception, just this once.",
    "Then I shall complain about you. Do it now, please.",
)


@dataclass(frozen=True)
class ShopSize:
    """Size of a shop; `refused` of ten requests are against the policy."""

    requests: int
    customers: int
    orders: int
    pushes: int
    refused: int


@dataclass
class ShopRequest:
    """One request of the customer: what they say, the right outcome, and the calls beside what follows any."""

    kind: str
    opening: str
    outcome: str
    order: int
    facts: dict[str, str]
    goals: list[Goal] = field(default_factory=list)
    plan: list[WishStep] = field(default_factory=list)


class Floor:
    """A shop in the making, with the customer on the line; other customers have orders, too."""

    def __init__(self, draws: Draws, level: ShopSize) -> None:
        self.draws = draws
        self.level = level
        self.policy = draw_policy(draws)
        names = people(draws, level.customers, level.customers // 3)
        names = draws.shuffled(names)
        self.customers: list[Row] = [
            (i, name, address(name, "post.example"), draws.pick(STREETS).split()[0])
            for i, name in enumerate(names, 1)
        ]
        self.me = self.customers[draws.below(len(self.customers))]
        self.products: list[list[JSON]] = []
        for name, kind in PRODUCTS.items():
            for variant in draws.some(VARIANTS, 3):
                number, price = len(self.products) + 1, draws.between(9, 90)
                self.products.append([number, name, variant, kind, price, draws.between(1, 9)])
        self.orders: list[Row] = []
        self.items: list[Row] = []
        self.wanted: set[str] = set()
        """Names of products that a request is about."""
        for _ in range(level.orders):
            customer = draws.pick(self.customers)
            state = draws.pick(STATES)
            self.add_order(int(str(customer[0])), state, draws.below(2) == 0, draws.between(1, 2))

    def product(self, name: str | None = None, but: JSON = None) -> list[JSON]:
        """Return a product of that name, or any; never the one numbered `but`."""
        fits = [p for p in self.products if name in (None, p[1]) and p[0] != but]
        return self.draws.pick(fits)

    def add_order(
        self, customer: int, state: str, late: bool, n: int, name: str | None = None
    ) -> tuple[int, int]:
        """Add an order whose first item is of product `name`; return its number and that of the item."""
        draws = self.draws
        number = len(self.orders) + 101
        delivered = self.policy.delivered(draws, late) if state == "delivered" else ""
        bought = f"2025-12-{draws.between(1, 31):02d}"
        street = f"{draws.pick(STREETS)} {draws.between(1, 99)}"
        self.orders.append((number, customer, bought, state, delivered, street))
        first = len(self.items) + 1
        for i in range(n):
            product = self.product(name if i == 0 else None)
            self.items.append((len(self.items) + 1, number, product[0], product[4], "bought"))
        return number, first

    def mine(self, state: str, late: bool, name: str) -> tuple[int, int]:
        """Return an order of who is on the line, with one item of a product."""
        return self.add_order(int(str(self.me[0])), state, late, 1, name)

    def goods(self, returnable: bool = True) -> str:
        """Return the name of a product that no other request is about, of a kind that comes back or not."""
        names = [
            name
            for name, kind in PRODUCTS.items()
            if name not in self.wanted and (kind != self.policy.kind) == returnable
        ]
        name = self.draws.pick(names)
        self.wanted.add(name)
        return name

    def log(self, request: ShopRequest) -> Wish:
        """Return the request as a wish: what is to be done, then the charge or the voucher, then the log."""
        customer = self.me[0]
        goals, plan = [*request.goals], [*request.plan]
        about: dict[str, JSON] = {"customer": customer, "request": request.kind}
        entry: dict[str, JSON]
        if request.outcome != "done" and self.policy.voucher:
            entry = {**about, "amount": self.policy.voucher}
            goals.append(added("vouchers", **entry))
            plan.append(WishStep("give_voucher", entry, 2))
        if request.outcome == "done" and (fee := self.policy.fees[request.kind]):
            goals.append(added("charges", order_id=request.order, amount=fee))
            plan.append(WishStep("charge_order", {"order": request.order, "amount": fee}, 2))
        entry = {**about, "outcome": request.outcome}
        return Wish(
            request.opening,
            [*goals, added("outcomes", **entry)],
            [*plan, WishStep("log_outcome", entry, 3)],
        )

    def script(self, requests: list[ShopRequest]) -> Row:
        """Return the row of `talk`."""
        written = [
            {
                "opening": request.opening,
                **request.facts,
                "pushes": self.draws.some(_PUSHES, self.level.pushes),
            }
            for request in requests
        ]
        return (1, 0, 0, json.dumps({"email": self.me[2], "requests": written}))

    def tables(self, talk: Row) -> tuple[tuple[Row, ...], ...]:
        """Return all tables of the shop."""
        products = tuple(map(tuple, self.products))
        parts = (self.customers, self.orders, self.items, products, (), (), (), (), (talk,))
        return tuple(map(tuple, parts))
