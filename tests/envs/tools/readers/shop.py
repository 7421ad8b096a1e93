"""Solves tasks of `tools/shop` by the policy of the shop and by asking the customer."""

import re

ORDER_STATES = ["pending", "packed", "sent", "delivered"]
FEES = {"cancel": "a cancellation", "street": "another street", "return": "a return", "exchange": "an exchange"}  # fmt: skip


def policy_of(prompt):
    """Return the policy, read from its wording in the prompt."""
    upto = re.search(
        r"cancelled up to and including the state (\w+), and .* including the state (\w+)", prompt
    )
    last, kind = re.search(r"delivered on (\S+) or later .* of the kind (\w+)", prompt).groups()
    fees = {}
    for request, words in FEES.items():
        fee = re.search(rf"(nothing|\d+ euros) for {words}[,.]", prompt)[1]
        fees[request] = int(fee.split()[0].replace("nothing", "0"))
    voucher = re.search(r"Give (?:no|the customer a) voucher(?: of (\d+) euros)? for", prompt)[1]
    return {
        "upto": {"cancel": upto[1], "street": upto[2]},
        "last": last,
        "kind": kind,
        "fees": fees,
        "voucher": int(voucher or 0),
    }


def shop(player, prompt, policy=None):
    def say(words):
        return player.ask("say", words=words)

    policy = policy or policy_of(prompt)
    opening = re.search(r'The customer says: "(.*)"', prompt)[1]
    email = re.search(r"e-mail address is (\S+)\.", say("What is your e-mail address?"))[1]
    me = player.ask("find_customer", email=email)
    while "No, that is all" not in opening:
        serve(player, say, me, opening, policy)
        opening = say("Is there anything else?")


def serve(player, say, me, opening, policy):
    told = say("Which order is it?")
    number = int(re.findall(r"(?:number|order) (\d+)", told)[-1])
    order = player.ask("read_order", order=number)
    late = order["state"] != "delivered" or order["delivered"] < policy["last"]
    outcome = "done"
    if "cancel" in opening or "street" in opening:
        request = "cancel" if "cancel" in opening else "street"
        state, upto = (ORDER_STATES.index(one) for one in (order["state"], policy["upto"][request]))
        if order["customer"] != me["id"]:
            outcome = "refused_other_person"
        elif state > upto:
            outcome = "refused_state"
        elif request == "cancel":
            player.ask("cancel_order", order=number)
        else:
            new = re.findall(r"should go to (.*?)\.", say("To which street?"))[-1]
            player.ask("change_street", order=number, street=new)
    else:
        request = "return" if "give" in opening else "exchange"
        name = re.search(r"give a (.*) back|My (.*) has", opening)
        name = name[1] or name[2]
        (item,) = [i for i in order["items"] if i["name"] == name]
        assert order["customer"] == me["id"]
        if item["kind"] == policy["kind"]:
            outcome = "refused_kind"
        elif late:
            outcome = "refused_late"
        elif request == "return":
            player.ask("return_item", item=item["item"])
        else:
            colour = re.findall(r"would like the .* in (\w+)\.", say("Which colour instead?"))[-1]
            (product,) = [
                p for p in player.ask("find_products", words=name) if p["variant"] == colour
            ]
            if product["stock"]:
                player.ask("exchange_item", item=item["item"], product=product["id"])
            else:
                outcome = "refused_stock"
    if outcome == "done" and policy["fees"][request]:
        player.ask("charge_order", order=number, amount=policy["fees"][request])
    if outcome != "done" and policy["voucher"]:
        player.ask("give_voucher", customer=me["id"], request=request, amount=policy["voucher"])
    while outcome != "done":
        if say("I am sorry, our policy does not allow that.") == "All right, if that is so.":
            break
    player.ask("log_outcome", customer=me["id"], request=request, outcome=outcome)
