"""The tools of the bank: accounts, payments, payees, standing orders, cards and requests, over six tables."""

from __future__ import annotations

import sqlite3
from typing import Any

from verigym.canonical import JSON
from verigym.envs.tools.people import TODAY
from verigym.envs.tools.tool import Refused, Tool, insert, one, rows, text, whole
from verigym.envs.tools.world import World

Db = sqlite3.Connection

_BOUND = 60


def list_accounts(db: Db) -> JSON:
    """Return the accounts with their balances."""
    return rows(db, "SELECT * FROM accounts ORDER BY id")


def list_payments(db: Db, account: str, party: str = "") -> JSON:
    """Return the payments in and out of an account."""
    _account(db, account)
    return rows(
        db,
        "SELECT * FROM payments WHERE account = ? AND instr(lower(party), lower(?)) "
        f"ORDER BY day, id LIMIT {_BOUND}",
        *(account, party),
    )


def list_payees(db: Db) -> JSON:
    """Return the people to whom money can be paid."""
    return rows(db, "SELECT * FROM payees ORDER BY id")


def add_payee(db: Db, name: str, number: str) -> JSON:
    """Add a payee; names are unique."""
    if rows(db, "SELECT id FROM payees WHERE name = ?", name):
        raise Refused(f"there is a payee {name[:60]!a} already")
    return {"added": insert(db, "payees", name=name, number=number)}


def delete_payee(db: Db, payee: str) -> JSON:
    """Delete a payee; earlier payments stay."""
    _payee(db, payee)
    db.execute("DELETE FROM payees WHERE name = ?", (payee,))
    return {"deleted": payee}


def pay(db: Db, account: str, payee: str, amount: int, note: str) -> JSON:
    """Pay an amount in euros to a payee at once."""
    _payee(db, payee)
    _book(db, account, -amount, payee, note)
    return {"paid": amount, "to": payee}


def transfer(db: Db, source: str, target: str, amount: int) -> JSON:
    """Move an amount in euros between the user's own accounts."""
    if source == target:
        raise Refused("source and target are the same account")
    _account(db, target)
    _book(db, source, -amount, target, "transfer")
    _book(db, target, amount, source, "transfer")
    return {"moved": amount}


def list_standing_orders(db: Db) -> JSON:
    """Return all standing orders."""
    return rows(db, "SELECT * FROM standing ORDER BY id")


def create_standing_order(db: Db, account: str, payee: str, amount: int, day: int) -> JSON:
    """Create a monthly payment."""
    _account(db, account)
    _payee(db, payee)
    number = insert(db, "standing", account=account, payee=payee, amount=amount, day=day)
    return {"created": number}


def change_standing_order(db: Db, order: int, amount: int) -> JSON:
    """Change the amount of a standing order."""
    one(db, f"there is no standing order {order}", "SELECT id FROM standing WHERE id = ?", order)
    db.execute("UPDATE standing SET amount = ? WHERE id = ?", (amount, order))
    return {"changed": order}


def cancel_standing_order(db: Db, order: int) -> JSON:
    """Delete a standing order for good."""
    one(db, f"there is no standing order {order}", "SELECT id FROM standing WHERE id = ?", order)
    db.execute("DELETE FROM standing WHERE id = ?", (order,))
    return {"cancelled": order}


def run_standing_orders(db: Db) -> JSON:
    """Pay all standing orders now."""
    found = rows(db, "SELECT * FROM standing ORDER BY id")
    for order in found:
        _book(db, order["account"], -order["amount"], order["payee"], "standing order")
    return {"paid": len(found)}


def list_cards(db: Db) -> JSON:
    """Return the cards with their limits."""
    return rows(db, "SELECT * FROM cards ORDER BY id")


def set_card_limit(db: Db, card: int, limit: int) -> JSON:
    """Set the daily limit of a card, in euros."""
    one(db, f"there is no card {card}", "SELECT id FROM cards WHERE id = ?", card)
    db.execute("UPDATE cards SET day_limit = ? WHERE id = ?", (limit, card))
    return {"card": card, "limit": limit}


def block_card(db: Db, card: int) -> JSON:
    """Block a card, which cannot be undone."""
    one(db, f"there is no card {card}", "SELECT id FROM cards WHERE id = ?", card)
    db.execute("UPDATE cards SET state = 'blocked' WHERE id = ?", (card,))
    return {"blocked": card}


def block_all_cards(db: Db) -> JSON:
    """Block all cards, which cannot be undone."""
    return {"blocked": db.execute("UPDATE cards SET state = 'blocked'").rowcount}


def request_money(db: Db, payee: str, amount: int, note: str) -> JSON:
    """Request money from a payee."""
    _payee(db, payee)
    return {"requested": insert(db, "requests", payee=payee, amount=amount, note=note)}


def list_requests(db: Db) -> JSON:
    """Return the pending requests."""
    return rows(db, "SELECT * FROM requests ORDER BY id")


def empty_account(db: Db, account: str, target: str) -> JSON:
    """Transfer the whole balance of an account."""
    balance = int(_account(db, account)["balance"])
    if balance <= 0:
        raise Refused(f"{account} holds {balance} EUR")
    return transfer(db, account, target, balance)


def _book(db: Db, account: str, amount: int, party: str, note: str) -> None:
    balance = int(_account(db, account)["balance"])
    if balance + amount < 0:
        raise Refused(f"{account} holds {balance} EUR, which is less than {-amount}")
    db.execute("UPDATE accounts SET balance = ? WHERE name = ?", (balance + amount, account))
    insert(db, "payments", account=account, amount=amount, party=party, day=TODAY, note=note)


def _account(db: Db, name: str) -> dict[str, Any]:
    return one(
        db, f"there is no account {name[:60]!a}", "SELECT * FROM accounts WHERE name = ?", name
    )


def _payee(db: Db, name: str) -> dict[str, Any]:
    return one(db, f"there is no payee {name[:60]!a}", "SELECT * FROM payees WHERE name = ?", name)


_ACCOUNT = text("Name of an account.")
_PAYEE = text("Name of a payee.")
_AMOUNT = whole("Whole euros.", 1, 1_000_000)
_NOTE = text("What it is for.")
_ORDER = {"order": whole("Its id.")}
_CARD = {"card": whole("Its id.")}
_A, _P, _O, _C = ("accounts",), ("payees",), ("standing",), ("cards",)
_BOOKS = ("accounts", "payments")

_TOOLS = (
    Tool("list_accounts", "List the accounts with their balances.", {}, list_accounts, _A),
    Tool(
        "list_payments",
        "List what was paid in (above 0) and out (below 0) of an account.",
        {"account": _ACCOUNT, "party": text("Only those whose other party holds this text.")},
        *(list_payments, _BOOKS, (), frozenset({"party"})),
    ),
    Tool("list_payees", "List the payees.", {}, list_payees, _P),
    Tool(
        "add_payee",
        "Add a payee.",
        {"name": text("Their name."), "number": text("Their account number.")},
        *(add_payee, _P, _P),
    ),
    Tool("delete_payee", "Delete a payee.", {"payee": _PAYEE}, delete_payee, _P, _P),
    Tool(
        "pay",
        "Pay a payee.",
        {"account": _ACCOUNT, "payee": _PAYEE, "amount": _AMOUNT, "note": _NOTE},
        *(pay, (*_BOOKS, "payees"), _BOOKS),
    ),
    Tool(
        "transfer",
        "Move money between two of the accounts.",
        {"source": _ACCOUNT, "target": _ACCOUNT, "amount": _AMOUNT},
        *(transfer, _BOOKS, _BOOKS),
    ),
    Tool("list_standing_orders", "List the standing orders.", {}, list_standing_orders, _O),
    Tool(
        "create_standing_order",
        "Pay a payee every month.",
        {
            "account": _ACCOUNT,
            "payee": _PAYEE,
            "amount": _AMOUNT,
            "day": whole("Of the month.", 1, 28),
        },
        *(create_standing_order, (*_O, *_A, *_P), _O),
    ),
    Tool(
        "change_standing_order",
        "Give a standing order another amount.",
        {**_ORDER, "amount": _AMOUNT},
        *(change_standing_order, _O, _O),
    ),
    Tool(
        "cancel_standing_order", "Cancel a standing order.", _ORDER, cancel_standing_order, _O, _O
    ),
    Tool(
        "run_standing_orders",
        "Pay all standing orders now.",
        {},
        *(run_standing_orders, (*_BOOKS, *_O), _BOOKS),
    ),
    Tool("list_cards", "List the cards.", {}, list_cards, _C),
    Tool(
        "set_card_limit",
        "Set the daily limit of a card.",
        {**_CARD, "limit": whole("Whole euros a day.", 0, 100_000)},
        *(set_card_limit, _C, _C),
    ),
    Tool("block_card", "Block a card for ever.", _CARD, block_card, _C, _C),
    Tool("block_all_cards", "Block every card for ever.", {}, block_all_cards, _C, _C),
    Tool(
        "request_money",
        "Ask a payee for money.",
        {"payee": _PAYEE, "amount": _AMOUNT, "note": _NOTE},
        *(request_money, ("requests", "payees"), ("requests",)),
    ),
    Tool("list_requests", "List the requests that wait.", {}, list_requests, ("requests",)),
    Tool(
        "empty_account",
        "Move all that an account holds to another.",
        {"account": _ACCOUNT, "target": _ACCOUNT},
        *(empty_account, _BOOKS, _BOOKS),
    ),
)

BANK = World(
    "bank",
    {
        "accounts": ("id", "name", "balance"),
        "payments": ("id", "account", "amount", "party", "day", "note"),
        "payees": ("id", "name", "number"),
        "standing": ("id", "account", "payee", "amount", "day"),
        "cards": ("id", "account", "ending", "day_limit", "state"),
        "requests": ("id", "payee", "amount", "note"),
    },
    {tool.name: tool for tool in _TOOLS},
)
