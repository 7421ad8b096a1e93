"""Requests of customers: each within the policy or against it, as the flag says."""

from __future__ import annotations

from collections.abc import Callable

from verigym.envs.tools.shop_floor import STREETS, Floor, ShopRequest
from verigym.envs.tools.wishes import WishStep, added, changed


def cancel(floor: Floor, refuse: bool) -> ShopRequest:
    """Ask to cancel: early enough, too late, or of somebody else's order."""
    name, draws = floor.goods(), floor.draws
    other = draws.pick([row for row in floor.customers if row != floor.me])
    if refuse and draws.below(3) == 0:
        state = floor.policy.state(draws, "cancel", False)
        order, _ = floor.add_order(int(str(other[0])), state, False, 1, name)
        opening = (
            f"Hello, please cancel the order of a {name} that {other[1]} made; we live together."
        )
        told = {"order": f"The order of {other[1]} has number {order}."}
        return ShopRequest("cancel", opening, "refused_other_person", order, told)
    order, _ = floor.mine(floor.policy.state(draws, "cancel", refuse), False, name)
    opening = f"Hello, I would like to cancel my order of a {name}."
    told = {"order": f"The order with the {name} has number {order}."}
    if refuse:
        return ShopRequest("cancel", opening, "refused_state", order, told)
    return ShopRequest(
        *("cancel", opening, "done", order, told, [changed("orders", order, state="cancelled")]),
        [WishStep("cancel_order", {"order": order}, 4)],
    )


def street(floor: Floor, refuse: bool) -> ShopRequest:
    """Ask to change the address, early enough or too late."""
    name = floor.goods()
    order, _ = floor.mine(floor.policy.state(floor.draws, "street", refuse), False, name)
    new = f"{floor.draws.pick(STREETS)} {floor.draws.between(100, 199)}"
    told = {
        "order": f"The order with the {name} has number {order}.",
        "street": f"The {name} should go to {new}.",
    }
    opening = f"I have moved, and my order of a {name} should come to the new street."
    if refuse:
        return ShopRequest("street", opening, "refused_state", order, told)
    return ShopRequest(
        *("street", opening, "done", order, told, [changed("orders", order, street=new)]),
        [WishStep("change_street", {"order": order, "street": new}, 5)],
    )


def bring_back(floor: Floor, refuse: bool) -> ShopRequest:
    """Return an item: in time, too late, or of a kind that is excluded."""
    kept = refuse and floor.draws.below(2) == 1
    name = floor.goods(returnable=not kept)
    late = refuse and not kept
    # Twice the same product, of which only one is meant: they have to be asked.
    if floor.level.requests > 1:
        floor.mine("delivered", not late, name)
    order, item = floor.mine("delivered", late, name)
    opening = f"I want to give a {name} back that I bought from you."
    told = {"order": f"The {name} that I mean came with order {order}."}
    if refuse:
        return ShopRequest(
            "return", opening, "refused_kind" if kept else "refused_late", order, told
        )
    price = next(row[3] for row in floor.items if row[0] == item)
    return ShopRequest(
        *("return", opening, "done", order, told),
        [changed("items", item, state="returned"), added("refunds", item=item, amount=price)],
        [WishStep("return_item", {"item": item}, 5)],
    )


def exchange(floor: Floor, refuse: bool) -> ShopRequest:
    """Exchange an item: in time for a variant in stock, too late, or out of stock."""
    name = floor.goods()
    late = refuse and floor.draws.below(2) == 1
    order, item = floor.mine("delivered", late, name)
    own = next(row[2] for row in floor.items if row[0] == item)
    other = floor.product(name, own)
    told = {
        "order": f"The {name} came with order {order}.",
        "variant": f"I would like the {name} in {other[2]}.",
    }
    opening = f"My {name} has the wrong colour; I want it in another one."
    if late:
        return ShopRequest("exchange", opening, "refused_late", order, told)
    if refuse:
        other[5] = 0
        return ShopRequest("exchange", opening, "refused_stock", order, told)
    stock = int(str(other[5])) - 1
    return ShopRequest(
        *("exchange", opening, "done", order, told),
        [changed("items", item, product=other[0]), changed("products", other[0], stock=stock)],
        [WishStep("exchange_item", {"item": item, "product": other[0]}, 6)],
    )


KINDS: tuple[Callable[[Floor, bool], ShopRequest], ...] = (cancel, street, bring_back, exchange)
