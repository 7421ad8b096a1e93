"""Readers that know nothing but what a policy sees solve the tasks: the wording is enough, and says one thing.

Each reads the task's words, looks things up with the tools, and never touches the reference.
"""

import json
import re
from collections import defaultdict

import pytest

import verigym

DIFFICULTIES = ("easy", "medium", "hard")
SEEDS = 12


class Player:
    """Plays one episode by calls; `ask` gives a call's result."""

    def __init__(self, env):
        self.env = env
        self.reward = None

    def ask(self, tool, /, **arguments):
        assert self.reward is None, "the episode is over"
        action = json.dumps({"name": tool, "arguments": arguments})
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            self.reward = reward
            self.reason = info["verdict"].evidence
        told = json.loads(observation)
        assert "result" in told, (self.env.task.prompt, action, observation)
        return told["result"]


def played(name, reader, difficulty, seed, split="test"):
    env = verigym.make(f"tools/{name}-v0")
    env.reset(seed=seed, options={"difficulty": difficulty, "split": split})
    player = Player(env)
    reader(player, env.task.prompt)
    if player.reward is None:
        player.ask("finish")
    return player


def solved(*args):
    player = played(*args)
    assert player.reward == 1.0, (player.reason, player.env.task.prompt[:3000])


def wishes(prompt):
    return re.findall(r"^\d+\. (.*)$", prompt, re.MULTILINE)


def dispatch(patterns, player, words):
    for pattern, act in patterns:
        if match := re.fullmatch(pattern, words):
            act(player, *match.groups())
            return
    raise AssertionError(f"nobody reads: {words}")


# Office.


def email_of(player, name):
    found = [c for c in player.ask("find_contacts") if c["name"] == name]
    assert len(found) == 1
    return found[0]["email"]


def contact_of(player, name):
    return next(c for c in player.ask("find_contacts") if c["name"] == name)


def inbox_of(player, name):
    return player.ask("list_mails", folder="inbox", sender=email_of(player, name))


def event_of(player, title):
    (event,) = [e for e in player.ask("list_events") if e["title"] == title]
    return event


def file_mails(player, name, folder):
    for mail in inbox_of(player, name):
        player.ask("move_mail", mail=mail["id"], folder=folder)


def delete_mails(player, name):
    for mail in inbox_of(player, name):
        player.ask("delete_mail", mail=mail["id"])


def tell_phone(player, to, subject, about):
    phone = contact_of(player, about)["phone"]
    player.ask("send_mail", to=email_of(player, to), subject=subject, body=phone)


def move_event(player, title, day):
    event = event_of(player, title)
    player.ask("move_event", event=event["id"], day=day, start=event["start"], end=event["finish"])


def cancel_event(player, title, subject):
    event = event_of(player, title)
    player.ask("cancel_event", event=event["id"])
    for guest in event["guests"].split(", "):
        player.ask("send_mail", to=guest, subject=subject, body="Off.")


def book(player, title, day, name):
    events = player.ask("list_events", day=day)
    for hour in range(9, 24):
        start, end = f"{hour:02d}:00", f"{hour + 1:02d}:00"
        if all(e["finish"] <= start or e["start"] >= end for e in events):
            break
    guests = [email_of(player, name)]
    player.ask("create_event", title=title, day=day, start=start, end=end, guests=guests)


def new_phone(player, name):
    (number,) = {
        number
        for mail in inbox_of(player, name)
        for number in re.findall(
            r"phone is (\S+)\.", player.ask("read_mail", mail=mail["id"])["body"]
        )
    }
    player.ask("update_contact", contact=contact_of(player, name)["id"], phone=number)


def share_newest(player, folder, name):
    files = sorted(player.ask("list_files", folder=folder), key=lambda f: f["changed"])
    assert len(files) < 2 or files[-1]["changed"] > files[-2]["changed"]
    player.ask("share_file", path=files[-1]["path"], email=email_of(player, name))


def delete_large(player, folder, most):
    for file in player.ask("list_files", folder=folder):
        if file["kilobytes"] > int(most):
            player.ask("delete_file", path=file["path"])


def save_code(player, name, path):
    (code,) = {
        code
        for mail in inbox_of(player, name)
        for code in re.findall(r"code is (\S+)\.", player.ask("read_mail", mail=mail["id"])["body"])
    }
    player.ask("write_file", path=path, content=code)


OFFICE = [
    (r"Move every mail in the inbox that came from (.*) to the folder (\w+)\.", file_mails),
    (r"Delete every mail in the inbox that came from (.*)\.", delete_mails),
    (r"Send (.*) a mail with the subject '(.*)'; .* have for (.*), and nothing else\.", tell_phone),
    (r"Move '(.*)' to (\S+), keeping its times, whatever else is on that day\.", move_event),
    (r"Cancel '(.*)' and send each .* subject '(.*)'\.", cancel_event),
    (r"Put the event '(.*)' into the calendar for (\S+): .* is on; (.*) is its only guest\.", book),
    (r"(.*) has written to you about a new phone number\. .*", new_phone),
    (r"Share the file in (\S+) that was changed last with (.*)\.", share_newest),
    (r"Delete every file in (\S+) of more than (\d+) kilobytes\.", delete_large),
    (r"(.*) has sent you a door code\. .* new file (\S+)\.", save_code),
]


def office(player, prompt):
    for words in wishes(prompt):
        dispatch(OFFICE, player, words)


# Bank.


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


# Home.


def device(player, name):
    (found,) = [d for d in player.ask("list_devices") if d["name"] == name]
    return player.ask("read_device", device=found["id"])


def those(player, **which):
    return [player.ask("read_device", device=d["id"]) for d in player.ask("list_devices", **which)]


def lamps(player, room, state):
    for lamp in those(player, room=room, kind="lamp"):
        if lamp["on"] != (state == "on"):
            player.ask("switch", device=lamp["id"], on=state == "on")


def heatings(player, floor, degrees):
    rooms = [row["name"] for row in player.ask("list_rooms") if row["floor"] == floor]
    for one in those(player, kind="heating"):
        if one["room"] in rooms:
            player.ask("set_level", device=one["id"], level=int(degrees))


def lower(player, name, by):
    one = device(player, name)
    player.ask("set_level", device=one["id"], level=one["level"] - int(by))


def lock_up(player):
    for lock in those(player, kind="lock"):
        player.ask("set_lock", device=lock["id"], locked=True)


def every_day(player, time, name, action):
    player.ask("add_schedule", device=device(player, name)["id"], time=time, action=action)


def no_longer(player, name, action, time):
    number = device(player, name)["id"]
    (row,) = [
        s
        for s in player.ask("list_schedules")
        if (s["device"], s["action"], s["time"]) == (number, action, time)
    ]
    player.ask("delete_schedule", schedule=row["id"])


def scene_gains(player, scene, name, level):
    player.ask("add_to_scene", scene=scene, device=device(player, name)["id"], level=int(level))


def scene_loses(player, scene, name):
    player.ask("remove_from_scene", scene=scene, device=device(player, name)["id"])


def by_window(player, room, degrees):
    (sensor,) = those(player, room=room, kind="sensor")
    (heating,) = those(player, room=room, kind="heating")
    if sensor["window"] == "open":
        player.ask("switch", device=heating["id"], on=False)
    else:
        player.ask("set_level", device=heating["id"], level=int(degrees))


def batteries(player, bound):
    for one in [*those(player, kind="lock"), *those(player, kind="sensor")]:
        if one["battery"] < int(bound):
            player.ask("add_to_shopping", thing=f"battery for {one['name']}")


def brightest(player, room, level):
    found = sorted(those(player, room=room, kind="lamp"), key=lambda lamp: lamp["level"])
    assert found[-1]["level"] > found[-2]["level"]
    player.ask("set_level", device=found[-1]["id"], level=int(level))


HOME = [
    (r"All lamps in the (\w+) must be (on|off)\.", lamps),
    (r"Set the level of every heating on the (\w+) floor to (\d+) degrees; .*", heatings),
    (r"Lower the level of the (.*) by (\d+)\.", lower),
    (r"Every lock of the house must be locked\.", lock_up),
    (r"Every day at (\S+) the (.*) should be switched (on|off)\.", every_day),
    (r"The (.*) should no longer be switched (on|off) every day at (\S+)\.", no_longer),
    (r"The scene '(\w+)' should also set the (.*) to level (\d+)\.", scene_gains),
    (r"The scene '(\w+)' should no longer set the (.*)\.", scene_loses),
    (r"If the window in the (\w+) is open, .* level to (\d+) and .*", by_window),
    (r"For each lock or sensor whose battery is below (\d+) percent .*", batteries),
    (
        r"Of the lamps in the (\w+), on or off, set the one with the highest level to (\d+)\.",
        brightest,
    ),
]


def home(player, prompt):
    for words in wishes(prompt):
        dispatch(HOME, player, words)


# Shop: the policy, and a customer to be asked.


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


# A service that is known from its documents.


def api_docs(player, prompt):
    pages = {
        title: player.ask("read_document", title=title) for title in player.ask("list_documents")
    }
    unit = int(re.search(r"is written as (\d+),", pages["Units"])[1])
    codes = {word: code for code, word in re.findall(r"(\w+) is (\w+)", pages["Codes"])}
    access = {}
    if "Access" in pages:
        key, value = re.search(r"parameter (\w+) with the text (\w+)", pages["Access"]).groups()
        access = {key: value}

    def send(title, **values):
        page = pages[title]
        method, path = page.split("\n")[0].split()
        params = dict(access)
        for label, what in re.findall(r"^Parameter (\w+): (.*)\.$", page, re.MULTILINE):
            kind = next(
                k for k in ("name of the keeper", "keeper", "state", "name", "") if k in what
            )
            if "full name of the keeper" in what:
                params[label] = values["keeper"]
            elif kind == "state":
                params[label] = codes[values["state"]]
            elif kind == "name":
                params[label] = values["name"]
            else:
                params[label] = values["amount"] * unit
        path = path.replace("<name>", values["name"])
        return player.ask("send_request", method=method, path=path, params=params)

    titles = defaultdict(list)
    for title in pages:
        titles[title.split()[0]].append(title)
    reading, adding, removing = (titles[w][0] for w in ("Reading", "Adding", "Removing"))
    gives = dict(re.findall(r"(\w+) is the (\w+)", pages[reading].split("Gives")[1]))

    def read(name):
        shown = send(reading, name=name)
        return {what: shown[label] for label, what in gives.items()}

    amount = re.search(r"holds the name, the (\w+) in", prompt)[1]
    for words in wishes(prompt):
        if m := re.fullmatch(rf"Set the {amount} of the \w+ (\w+) to (\d+) \w+\.", words):
            send(f"Changing the {amount}", name=m[1], amount=int(m[2]))
        elif m := re.fullmatch(rf"Raise the {amount} of the \w+ (\w+) by (\d+) \w+\.", words):
            now = read(m[1])[amount] // unit
            send(f"Changing the {amount}", name=m[1], amount=now + int(m[2]))
        elif m := re.fullmatch(r"Put the \w+ (\w+) into the state '(\w+)'\.", words):
            send("Changing the state", name=m[1], state=m[2])
        elif m := re.fullmatch(r"Make (.*) the keeper of the \w+ (\w+)\.", words):
            send("Changing the keeper", name=m[2], keeper=m[1])
        elif m := re.fullmatch(r"Give the \w+ (\w+) the keeper that the \w+ (\w+) has\.", words):
            send("Changing the keeper", name=m[1], keeper=read(m[2])["full"])
        elif m := re.fullmatch(
            r"Add a \w+ named (\w+) with a \w+ of (\d+) \w+, in the state '(\w+)', with (.*) as its keeper\.",
            words,
        ):
            send(adding, name=m[1], amount=int(m[2]), state=m[3], keeper=m[4])
        else:
            m = re.fullmatch(r"Remove the \w+ (\w+)\.", words)
            send(removing, name=m[1])


READERS = {"office": office, "bank": bank, "home": home, "shop": shop, "api-docs": api_docs}


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_solves_what_is_asked(name, difficulty):
    for seed in range(SEEDS):
        solved(name, READERS[name], difficulty, seed)


@pytest.mark.parametrize("level", [1, 10])
@pytest.mark.parametrize("name", READERS)
def test_a_reader_solves_the_lowest_and_the_highest_level(name, level):
    for seed in range(2):
        solved(name, READERS[name], level, seed)


@pytest.mark.slow
@pytest.mark.parametrize("state", ORDER_STATES)
def test_who_does_not_read_the_policy_of_the_shop_is_hardly_paid(state):
    usual = {
        "upto": {"cancel": state, "street": state},
        "last": "2025-01-01" if state == "delivered" else "2026-01-31",
        "kind": "hygiene",
        "fees": dict.fromkeys(FEES, 0),
        "voucher": 0,
    }

    def serve_as_usual(player, prompt):
        shop(player, prompt, usual)

    paid = sum(played("shop", serve_as_usual, "easy", seed).reward for seed in range(40))
    assert paid <= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_reader_solves_many(name):
    for seed in range(100, 250):
        solved(name, READERS[name], DIFFICULTIES[seed % 3], seed, "train")
