"""Errands at a bank: each takes what it is about from a `BankLedger`, or gives None if nothing fits."""

from __future__ import annotations

from collections.abc import Callable

from verigym.canonical import JSON
from verigym.envs.tools.bank_ledger import BankLedger
from verigym.envs.tools.wishes import Goal, Wish, WishStep, added, changed, gone


def _payment(
    ledger: BankLedger, account: str, party: str, amount: int, note: str, work: int
) -> tuple[Goal, WishStep]:
    goal = ledger.spend(account, amount, party, note)
    arguments: dict[str, JSON] = {
        "account": account,
        "payee": party,
        "amount": amount,
        "note": note,
    }
    return goal, WishStep("pay", arguments, work)


def pay_bill(ledger: BankLedger) -> Wish | None:
    """Ask to pay a bill whose details are all given."""
    name = ledger.person()
    if name is None:
        return None
    account, amount = ledger.draws.pick(ledger.open), ledger.draws.between(11, 180)
    note = f"bill {ledger.draws.between(100, 999)}"
    goal, step = _payment(ledger, account, name, amount, note, 1)
    words = f"Pay {amount} from the account {account} to {name}, with the note '{note}'."
    return Wish(words, [goal], [step])


def send_back(ledger: BankLedger) -> Wish | None:
    """Ask to return a payment, whose amount must be looked up."""
    name = ledger.person()
    if name is None:
        return None
    account = ledger.draws.pick(ledger.open)
    came = ledger.add_payment(account, ledger.draws.between(11, 180), name, "by mistake")
    goal, step = _payment(ledger, account, name, int(str(came[2])), "returned", 3)
    words = (
        f"{name} has paid something into the account {account} by mistake. Pay the same amount back from "
        "there, with the note 'returned'."
    )
    return Wish(words, [goal], [step])


def keep_exactly(ledger: BankLedger) -> Wish | None:
    """Ask to move all but a given amount; the difference must be computed."""
    source = ledger.fix()
    if source is None:
        return None
    target = ledger.draws.pick(ledger.open)
    left = ledger.draws.between(2, 14) * 100 + ledger.draws.below(50)
    amount = ledger.balance(source) - left
    if amount <= 0:
        return None
    goals = [
        ledger.spend(source, amount, target, "transfer"),
        ledger.spend(target, -amount, source, "transfer"),
    ]
    words = f"Move money from {source} to {target}, in one transfer, so that {source} holds exactly {left}."
    step = WishStep("transfer", {"source": source, "target": target, "amount": amount}, 3)
    return Wish(words, goals, [step])


def split(ledger: BankLedger) -> Wish | None:
    """Ask to share a bill that was paid."""
    if len(ledger.free_names) < 3 or not ledger.free_shops:
        return None
    draws, shop = ledger.draws, ledger.free_shops.pop()
    friends = [ledger.free_names.pop() for _ in range(draws.between(2, 3))]
    share, account = draws.between(9, 40), draws.pick([str(row[1]) for row in ledger.accounts])
    note = f"dinner {draws.between(100, 999)}"
    paid = ledger.add_payment(account, -share * (len(friends) + 1), shop, note)
    names = f"{', '.join(friends[:-1])} and {friends[-1]}"
    words = (
        f"The payment to {shop} with the note '{note}', out of the account {account}, was for you and for "
        f"{names}. Request an equal share from each of them, with that same note; you bear one share "
        "yourself."
    )
    assert paid[2] == -share * (len(friends) + 1)
    return Wish(
        words,
        [added("requests", payee=friend, amount=share, note=note) for friend in friends],
        [
            WishStep(
                "request_money",
                {"payee": friend, "amount": share, "note": note},
                3 if i == 0 else 1,
            )
            for i, friend in enumerate(friends)
        ],
    )


def cancel_order(ledger: BankLedger) -> Wish | None:
    """Cancel a standing order, named by its payee."""
    if not ledger.free_standing:
        return None
    order = ledger.free_standing.pop()
    return Wish(
        f"Cancel the standing order to {order[2]}.",
        [gone("standing", order[0])],
        [WishStep("cancel_standing_order", {"order": order[0]})],
    )


def raise_order(ledger: BankLedger) -> Wish | None:
    """Raise a standing order by a percentage."""
    if not ledger.free_standing:
        return None
    order = ledger.free_standing.pop()
    percent = ledger.draws.pick((5, 10, 25, 50))
    amount = int(str(order[3])) * (100 + percent) // 100
    return Wish(
        f"Raise the standing order to {order[2]} by {percent} percent of what it is now.",
        [changed("standing", order[0], amount=amount)],
        [WishStep("change_standing_order", {"order": order[0], "amount": amount}, 3)],
    )


def card_limit(ledger: BankLedger) -> Wish | None:
    """Ask to double or halve the limit of a card."""
    if not ledger.free_cards:
        return None
    card = ledger.free_cards.pop()
    now = int(str(card[3]))
    how, limit = ledger.draws.pick((("Double", 2 * now), ("Halve", now // 2)))
    return Wish(
        f"{how} the daily limit of the card of the account {card[1]}.",
        [changed("cards", card[0], day_limit=limit)],
        [WishStep("set_card_limit", {"card": card[0], "limit": limit}, 3)],
    )


def lost_card(ledger: BankLedger) -> Wish | None:
    """Block a lost card, named by its last digits."""
    if not ledger.free_cards:
        return None
    card = ledger.free_cards.pop()
    return Wish(
        f"The card ending in {card[2]} is lost: block it.",
        [changed("cards", card[0], state="blocked")],
        [WishStep("block_card", {"card": card[0]})],
    )


def new_payee(ledger: BankLedger) -> Wish | None:
    """Ask to add a payee, then to pay them."""
    draws = ledger.draws
    name = f"{draws.pick(('Tiler', 'Painter', 'Plumber', 'Roofer'))} {draws.between(10, 99)}"
    if name in ledger.names:
        return None
    ledger.names.append(name)
    number = f"NE{draws.between(10, 99)} {draws.between(1000, 9999)}"
    account, amount = draws.pick(ledger.open), draws.between(50, 200)
    note = f"job {draws.between(100, 999)}"
    goal, step = _payment(ledger, account, name, amount, note, 1)
    return Wish(
        f"Add the payee '{name}' with the account number '{number}', then pay them {amount} from the account "
        f"{account} with the note '{note}'.",
        [added("payees", name=name, number=number), goal],
        [WishStep("add_payee", {"name": name, "number": number}, 1), step],
    )


def as_before(ledger: BankLedger) -> Wish | None:
    """Return the sum of what was paid."""
    if not ledger.free_shops:
        return None
    draws, shop = ledger.draws, ledger.free_shops.pop()
    account = draws.pick(ledger.open)
    for _ in range(draws.between(1, 2)):
        ledger.add_payment(account, -draws.between(11, 60), shop, "instalment")
    total = -sum(
        int(str(row[2])) for row in ledger.payments if row[1] == account and row[3] == shop
    )
    goal, step = _payment(ledger, account, shop, total, "final sum", 5)
    words = (
        f"Pay {shop} from the account {account} once more the total of all that has been paid to them from "
        f"it so far, with the note 'final sum'."
    )
    return Wish(words, [goal], [step])


def richer(ledger: BankLedger) -> Wish | None:
    """Pay from an account that depends on the balances."""
    name = ledger.person()
    first = ledger.fix()
    second = ledger.fix()
    if name is None or first is None or second is None:
        return None
    if ledger.balance(first) == ledger.balance(second):
        return None
    account = max(first, second, key=ledger.balance)
    amount = ledger.draws.between(11, 150)
    note = f"gift {ledger.draws.between(100, 999)}"
    goal, step = _payment(ledger, account, name, amount, note, 3)
    words = (
        f"Pay {amount} to {name} with the note '{note}', from whichever of the accounts {first} and {second} "
        "holds more."
    )
    return Wish(words, [goal], [step])


KINDS: tuple[Callable[[BankLedger], Wish | None], ...] = (
    *(pay_bill, send_back, keep_exactly, split, cancel_order, raise_order),
    *(card_limit, lost_card, new_payee, as_before, richer),
)
