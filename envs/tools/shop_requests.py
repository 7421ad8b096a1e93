"""Requests of customers: each within the policy or against it, as the flag says."""

from __future__ import annotations

from collections.abc import Callable

from verigym.envs.tools.shop_floor import STREETS, Floor, Request
from verigym.envs.tools.wishes import Step, added, changed


def cancel(floor: Floor, refuse: bool) -> Request:
    """Pending, or sent already, or somebody else's."""
    name = floor.goods()
    opening = f"Hello, I would like to cancel my order of a {name}."
    if not refuse:
        order, _ = floor.mine("pending", False, name)
        told = {"order": f"The order with the {name} has number {order}."}
        goals, plan = (
            [changed("orders", order, state="cancelled")],
            [Step("cancel_order", {"order": order}, 4)],
        )
        return Request("cancel", opening, "done", told, goals, plan)
    others = [row for row in floor.customers if row != floor.me]
    if floor.draws.below(2):
        order, _ = floor.mine("sent", False, name)
        told = {"order": f"The order with the {name} has number {order}."}
        return Request("cancel", opening, "refused_state", told)
    other = floor.draws.pick(others)
    order, _ = floor.add_order(int(str(other[0])), "pending", False, 1, name)
    opening = f"Hello, please cancel the order of a {name} that {other[1]} made; we live together."
    told = {"order": f"The order of {other[1]} has number {order}."}
    return Request("cancel", opening, "refused_other_person", told)


def street(floor: Floor, refuse: bool) -> Request:
    """Pending, or sent already."""
    name = floor.goods()
    order, _ = floor.mine("sent" if refuse else "pending", False, name)
    new = f"{floor.draws.pick(STREETS)} {floor.draws.between(100, 199)}"
    told = {
        "order": f"The order with the {name} has number {order}.",
        "street": f"The {name} should go to {new}.",
    }
    opening = f"I have moved, and my order of a {name} should come to the new street."
    if refuse:
        return Request("street", opening, "refused_state", told)
    return Request(
        *("street", opening, "done", told, [changed("orders", order, street=new)]),
        [Step("change_street", {"order": order, "street": new}, 5)],
    )


def bring_back(floor: Floor, refuse: bool) -> Request:
    """In time, too late, or of a kind that does not come back."""
    hygiene = refuse and floor.draws.below(2) == 1
    name = floor.goods("hygiene" if hygiene else "plain")
    late = refuse and not hygiene
    # Twice the same product, of which only one is meant: they have to be asked.
    if floor.level.requests > 1:
        floor.mine("delivered", not late, name)
    order, item = floor.mine("delivered", late, name)
    opening = f"I want to give a {name} back that I bought from you."
    told = {"order": f"The {name} that I mean came with order {order}."}
    if refuse:
        return Request("return", opening, "refused_kind" if hygiene else "refused_late", told)
    price = next(row[3] for row in floor.items if row[0] == item)
    return Request(
        *("return", opening, "done", told),
        [changed("items", item, state="returned"), added("refunds", item=item, amount=price)],
        [Step("return_item", {"item": item}, 5)],
    )


def exchange(floor: Floor, refuse: bool) -> Request:
    """For a variant in stock, or out of it."""
    name = floor.goods()
    order, item = floor.mine("delivered", False, name)
    own = next(row[2] for row in floor.items if row[0] == item)
    other = floor.product(name, own)
    told = {
        "order": f"The {name} came with order {order}.",
        "variant": f"I would like the {name} in {other[2]}.",
    }
    opening = f"My {name} has the wrong colour; I want it in another one."
    if refuse:
        other[5] = 0
        return Request("exchange", opening, "refused_stock", told)
    stock = int(str(other[5])) - 1
    return Request(
        *("exchange", opening, "done", told),
        [changed("items", item, product=other[0]), changed("products", other[0], stock=stock)],
        [Step("exchange_item", {"item": item, "product": other[0]}, 6)],
    )


KINDS: tuple[Callable[[Floor, bool], Request], ...] = (cancel, street, bring_back, exchange)
