"""A table with a filter and pages; rows are ticked and approved together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import override

from verigym.envs.search.draws import BlockDraws
from verigym.envs.web.browsing import BrowserState, Row
from verigym.envs.web.pages import Control, WebPage
from verigym.envs.web.site import Aim, Chore, ChoreSite
from verigym.envs.web.words import VENDORS

_STATUSES = ("open", "paid", "disputed", "approved")
_ALL = "(all)"
_ROWS = 6
"""Rows on a page."""


class Invoices(ChoreSite):
    """Approve some open invoices and no others; an approval cannot be taken back."""

    name: ClassVar[str] = "invoices"
    sizes: ClassVar[Mapping[int, int]] = {
        2: 6,
        3: 7,
        4: 16,
        5: 22,
        6: 36,
        7: 50,
    }

    @override
    def show(self, place: BrowserState) -> WebPage:
        rows, page = _filtered(place), _number(place)
        shown = rows[page * _ROWS : (page + 1) * _ROWS]
        last = max(0, len(rows) - 1) // _ROWS
        parts: list[str | Control] = [place.message] if place.message else []
        for name, options in (("vendor", VENDORS), ("status", _STATUSES)):
            chosen = place.kept.get(name, _ALL)
            parts.append(Control("combobox", name, name.capitalize(), chosen, (_ALL, *options)))
        parts.append(Control("button", "filter", "Filter"))
        parts.append(f"{len(rows)} invoices, page {page + 1} of {last + 1}")
        for row in shown:
            label = f"No. {row['id']}, {row['vendor']}, {row['amount']} EUR, {row['status']}"
            parts.append(Control("checkbox", f"row{row['id']}", label))
        if page > 0:
            parts.append(Control("button", "previous", "Previous page"))
        if page < last:
            parts.append(Control("button", "next", "Next page"))
        return WebPage("Invoices", (*parts, Control("button", "approve", "Approve ticked")))

    @override
    def submit(self, place: BrowserState, button: str, fields: Mapping[str, str]) -> BrowserState:
        kept = dict(place.kept)
        if button == "filter":
            kept = {"vendor": fields["vendor"], "status": fields["status"], "page": "0"}
            return BrowserState(place.tables, kept=kept)
        page = _number(place)
        if button in ("next", "previous"):
            kept["page"] = str(page + (1 if button == "next" else -1))
            return BrowserState(place.tables, kept=kept)
        ticked = {row["id"] for row in _filtered(place) if fields.get(f"row{row['id']}")}
        approved = {id for id in ticked if _row(place, id)["status"] == "open"}
        rows = [
            {**row, "status": "approved"} if row["id"] in approved else row
            for row in place.tables["invoices"]
        ]
        moved = BrowserState({**place.tables, "invoices": rows}, kept=kept)
        message = f"{len(approved)} approved, {len(ticked) - len(approved)} left as they were."
        kept["page"] = str(_number(moved))
        return BrowserState(moved.tables, kept=kept, message=message)

    @override
    def pose(self, draws: BlockDraws, size: int) -> Chore:
        vendor = draws.one(VENDORS)
        others = [name for name in VENDORS if name != vendor]
        bound = 100 * (3 + draws.below(15))
        wanted = 1 + size // 8
        rows: list[dict[str, Any]] = []
        for n in range(size):
            mine = n < wanted + 1 + size // 8
            rows.append(
                {
                    "vendor": vendor if mine or draws.below(8) == 0 else draws.one(others),
                    "amount": 20 + draws.below(2400),
                    "status": "open" if mine else draws.one(("open", "open", "paid", "disputed")),
                }
            )
            # Some are sure to count, and one is just above.
            if n < wanted:
                rows[n]["amount"] = 20 + draws.below(bound - 20)
            elif n == wanted:
                rows[n]["amount"] = bound + draws.below(100)
        rows = [{"id": 101 + n, **row} for n, row in enumerate(draws.some(rows, size))]
        facts = {"vendor": vendor, "bound": bound}
        hits = sum(_counts(row, facts) for row in rows)
        where = {"vendor": vendor, "status": "open", "amount": {"lt": bound}}
        return Chore(
            words=f"Approve every open invoice of {vendor} that is below {bound} EUR, and no other.",
            tables={"invoices": rows},
            goals=[
                {
                    "kind": "equal",
                    "table": "invoices",
                    "where": where,
                    "set": {"status": "approved"},
                }
            ],
            facts=facts,
            turns=2 * (hits + size // _ROWS) + 12,
        )

    @override
    def aim(self, place: BrowserState, facts: Mapping[str, Any]) -> Aim | None:
        if not any(_counts(row, facts) for row in place.tables["invoices"]):
            return None
        filters = {"vendor": facts["vendor"], "status": "open"}
        if any(place.kept.get(name, _ALL) != value for name, value in filters.items()):
            return Aim(filters, "filter")
        rows, page = _filtered(place), _number(place)
        here = {n // _ROWS for n, row in enumerate(rows) if _counts(row, facts)}
        if page not in here:
            return Aim(filters, "next" if min(here) > page else "previous")
        shown = rows[page * _ROWS : (page + 1) * _ROWS]
        ticks = {f"row{row['id']}": "on" if _counts(row, facts) else "" for row in shown}
        return Aim({**filters, **ticks}, "approve")


def _filtered(place: BrowserState) -> list[Row]:
    kept = place.kept
    return [
        row
        for row in place.tables["invoices"]
        if all(kept.get(name, _ALL) in (_ALL, row[name]) for name in ("vendor", "status"))
    ]


def _number(place: BrowserState) -> int:
    """Number of the page that is shown, from 0; the last page if there are no longer that many."""
    return min(int(place.kept.get("page", "0")), max(0, len(_filtered(place)) - 1) // _ROWS)


def _row(place: BrowserState, id: int) -> Row:
    return next(row for row in place.tables["invoices"] if row["id"] == id)


def _counts(row: Row, facts: Mapping[str, Any]) -> bool:
    return bool(
        row["vendor"] == facts["vendor"]
        and row["status"] == "open"
        and row["amount"] < facts["bound"]
    )
