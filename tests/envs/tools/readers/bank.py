"""Solves tasks of `tools/bank` by their words."""

import re

from tests.envs.tools.readers.player import dispatch, wishes


def balances(player):
    return {row["name"]: row["balance"] for row in player.ask("list_accounts")}


def pay(player, amount, account, payee, note):
    player.ask("pay", account=account, payee=payee, amount=int(amount), note=note)


def send_back(player, name, account, note):
    (came,) = [
        p for p in player.ask("list_payments", account=account, party=name) if p["amount"] > 0
    ]
    pay(player, came["amount"], account, name, note)


def keep_exactly(player, source, target, again, left):
    assert source == again
    amount = balances(player)[source] - int(left)
    player.ask("transfer", source=source, target=target, amount=amount)


def split(player, shop, note, account, names):
    friends = re.split(", | and ", names)
    (paid,) = [
        p for p in player.ask("list_payments", account=account, party=shop) if p["note"] == note
    ]
    share, rest = divmod(-paid["amount"], len(friends) + 1)
    assert rest == 0
    for friend in friends:
        player.ask("request_money", payee=friend, amount=share, note=note)


def order_to(player, payee):
    (order,) = [o for o in player.ask("list_standing_orders") if o["payee"] == payee]
    return order


def cancel_order(player, payee):
    player.ask("cancel_standing_order", order=order_to(player, payee)["id"])


def raise_order(player, payee, percent):
    order = order_to(player, payee)
    more, rest = divmod(order["amount"] * int(percent), 100)
    assert rest == 0
    player.ask("change_standing_order", order=order["id"], amount=order["amount"] + more)


def limit(player, how, account):
    (card,) = [c for c in player.ask("list_cards") if c["account"] == account]
    new = card["day_limit"] * 2 if how == "Double" else card["day_limit"] // 2
    player.ask("set_card_limit", card=card["id"], limit=new)


def block(player, ending):
    (card,) = [c for c in player.ask("list_cards") if c["ending"] == ending]
    player.ask("block_card", card=card["id"])


def new_payee(player, name, number, amount, account, note):
    player.ask("add_payee", name=name, number=number)
    pay(player, amount, account, name, note)


def as_before(player, shop, account):
    payments = player.ask("list_payments", account=account, party=shop)
    total = -sum(p["amount"] for p in payments if p["amount"] < 0)
    pay(player, total, account, shop, "final sum")


def richer(player, amount, name, note, first, second):
    held = balances(player)
    assert held[first] != held[second]
    pay(player, amount, max(first, second, key=held.get), name, note)


BANK = [
    (r"Pay (\d+) from the account (\w+) to (.*), with the note '(.*)'\.", pay_from := None),
    (r"(.*) has paid something into the account (\w+) by mistake\. .* note '(.*)'\.", send_back),
    (
        r"Move money from (\w+) to (\w+), in one transfer, so that (\w+) holds exactly (\d+)\.",
        keep_exactly,
    ),
    (
        r"The payment to (.*) with the note '(.*)', out of the account (\w+), was for you and for (.*)\. Req.*",
        split,
    ),
    (r"Cancel the standing order to (.*)\.", cancel_order),
    (r"Raise the standing order to (.*) by (\d+) percent of what it is now\.", raise_order),
    (r"(Double|Halve) the daily limit of the card of the account (\w+)\.", limit),
    (r"The card ending in (\d+) is lost: block it\.", block),
    (
        r"Add the payee '(.*)' with the account number '(.*)', then pay them (\d+) from the account (\w+) with the note '(.*)'\.",
        new_payee,
    ),
    (r"Pay (.*) from the account (\w+) once more .*", as_before),
    (
        r"Pay (\d+) to (.*) with the note '(.*)', from whichever of the accounts (\w+) and (\w+) holds more\.",
        richer,
    ),
]
BANK[0] = (
    BANK[0][0],
    lambda player, amount, account, name, note: pay(player, amount, account, name, note),
)


def bank(player, prompt):
    # What depends on a balance at the start comes first; such accounts are no part of other wishes.
    for words in sorted(wishes(prompt), key=lambda w: "holds" not in w):
        dispatch(BANK, player, words)
