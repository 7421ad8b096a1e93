"""Order wizard in three pages: the goods, the address, and a review with terms to accept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import override

from verigym.envs.search.draws import BlockDraws
from verigym.envs.web.browsing import BrowserState
from verigym.envs.web.pages import Control, WebPage
from verigym.envs.web.site import Aim, Chore, ChoreSite, added, has
from verigym.envs.web.words import FAMILY, GIVEN, STREETS, TOWNS

_PRODUCTS = ("Desk lamp", "Desk fan", "Floor lamp", "Kettle", "Toaster", "Wall clock")
_COLOURS = ("White", "Black", "Green")
_WAYS = ("Standard", "Express", "Pick up")
_PAGES = {
    "start": ("product", "quantity", "colour", "gift"),
    "delivery": ("recipient", "street", "town", "way"),
    "review": ("terms",),
}
_FIRST = {"product": _PRODUCTS[0], "colour": _COLOURS[0], "way": _WAYS[0], "quantity": "1"}


class Order(ChoreSite):
    """Order something for somebody; an order that was placed cannot be taken back."""

    name: ClassVar[str] = "order"
    sizes: ClassVar[Mapping[int, int]] = {6: 8, 7: 8}
    counts: ClassVar[Mapping[int, int]] = {7: 2}

    @override
    def show(self, place: BrowserState) -> WebPage:
        kept = {**_FIRST, **place.kept}
        told: tuple[str | Control, ...] = (place.message,) if place.message else ()
        back, forward = Control("button", "back", "Back"), Control("button", "next", "Next")
        if place.page == "placed":
            return WebPage("Order placed", (*told, Control("button", "new", "New order")))
        if place.page == "start":
            return WebPage(
                "Order, step 1 of 3",
                (
                    *told,
                    Control("combobox", "product", "Product", kept["product"], _PRODUCTS),
                    Control("textbox", "quantity", "Quantity", kept["quantity"]),
                    "Colour:",
                    *(
                        Control("radio", "colour", c, "on" if c == kept["colour"] else "")
                        for c in _COLOURS
                    ),
                    Control("checkbox", "gift", "Wrap as a gift", kept.get("gift", "")),
                    forward,
                ),
            )
        if place.page == "delivery":
            return WebPage(
                "Order, step 2 of 3",
                (
                    *told,
                    Control("textbox", "recipient", "Recipient", kept.get("recipient", "")),
                    Control("textbox", "street", "Street and number", kept.get("street", "")),
                    Control("textbox", "town", "Town", kept.get("town", "")),
                    Control("combobox", "way", "Delivery", kept["way"], _WAYS),
                    back,
                    forward,
                ),
            )
        gift = "as a gift" if kept.get("gift") else "not as a gift"
        return WebPage(
            "Order, step 3 of 3",
            (
                *told,
                f"{kept['quantity']} of {kept['product']}, {kept['colour']}, {gift}",
                f"To {kept['recipient']}, {kept['street']}, {kept['town']}; {kept['way']}",
                Control("checkbox", "terms", "I accept the terms"),
                back,
                Control("button", "place", "Place order"),
            ),
        )

    @override
    def submit(self, place: BrowserState, button: str, fields: Mapping[str, str]) -> BrowserState:
        if button == "new":
            return BrowserState(place.tables)
        entered = {name: fields.get(name, "") for name in _PAGES[place.page] if name != "terms"}
        kept = {**place.kept, **entered}
        if button == "back":
            return BrowserState(
                place.tables, "start" if place.page == "delivery" else "delivery", kept
            )
        if place.page == "start":
            quantity = kept["quantity"]
            if not (quantity.isascii() and quantity.isdigit() and 0 < int(quantity[:9]) < 100):
                return BrowserState(place.tables, "start", kept, "Quantity must be from 1 to 99.")
            return BrowserState(place.tables, "delivery", {**kept, "quantity": str(int(quantity))})
        if place.page == "delivery":
            if not all(kept[name].strip() for name in ("recipient", "street", "town")):
                return BrowserState(place.tables, "delivery", kept, "The address is not complete.")
            return BrowserState(place.tables, "review", kept)
        if not fields.get("terms"):
            return BrowserState(place.tables, "review", kept, "The terms must be accepted.")
        row = {name: kept[name] for page in ("start", "delivery") for name in _PAGES[page]}
        return BrowserState(added(place.tables, "orders", row), "placed", {}, "Thank you.")

    @override
    def pose(self, draws: BlockDraws, size: int) -> Chore:
        given, family = draws.one(GIVEN), draws.one(FAMILY)
        row = {
            "product": draws.one(_PRODUCTS[1:]),
            "quantity": str(2 + draws.below(20)),
            "colour": draws.one(_COLOURS[1:]),
            "gift": draws.one(("", "on")),
            "recipient": f"{given} {family}",
            "street": f"{draws.one(STREETS)} {1 + draws.below(120)}",
            "town": draws.one(TOWNS),
            "way": draws.one(_WAYS[1:]),
        }
        wrapped = "wrapped as a gift" if row["gift"] else "without wrapping"
        words = (
            f"Order the product {row['product']}: {row['quantity']} pieces in {row['colour'].lower()}, {wrapped}. "
            f"Recipient: {row['recipient']}, {row['street']}, {row['town']}. Delivery: {row['way'].lower()}. "
            "Place the order."
        )
        old = dict.fromkeys(row, "(earlier)")
        return Chore(
            words=words,
            tables={"orders": [{"id": n, **old} for n in range(1, 2 + draws.below(3))]},
            goals=[{"kind": "present", "table": "orders", "where": dict(row)}],
            facts=row,
            turns=2 * size + 12,
        )

    @override
    def aim(self, place: BrowserState, facts: Mapping[str, Any]) -> Aim | None:
        if has(place.tables, "orders", facts):
            return None
        if place.page == "placed":
            return Aim({}, "new")
        if place.page == "review":
            kept = {**_FIRST, **place.kept}
            right = all(kept.get(name, "") == value for name, value in facts.items())
            return Aim({"terms": "on"}, "place") if right else Aim({}, "back")
        started_right = all(
            {**_FIRST, **place.kept}.get(n, "") == facts[n] for n in _PAGES["start"]
        )
        if place.page == "delivery" and not started_right:
            return Aim({}, "back")
        return Aim({name: facts[name] for name in _PAGES[place.page]}, "next")
