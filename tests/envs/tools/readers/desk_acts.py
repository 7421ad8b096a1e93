"""Carries cases out in each world, by what its tools show."""

import contextlib
import re
from functools import partial


class BankActs:
    """Payments, transfers and more."""

    def level(self, clerk, trait, case):
        assert trait == "the balance of the account of the case"
        return self.balance(clerk, case["account"])

    def balance(self, clerk, account):
        return {row["name"]: row["balance"] for row in clerk.all("list_accounts")}[account]

    def is_possible(self, clerk, case):
        moving = case["kind"] in ("payment", "transfer")
        return not moving or self.balance(clerk, case["account"]) >= case["amount"]

    def act(self, clerk, case):
        account, amount, note = case["account"], case["amount"], f"case {case['id']}"

        def look():
            return clerk.all("list_payments", account=account)

        if case["kind"] == "payment":
            clerk.change(
                look, "pay", account=account, payee=case["payee"], amount=amount, note=note
            )
        elif case["kind"] == "transfer":
            clerk.change(look, "transfer", source=account, target=case["target"], amount=amount)
        elif case["kind"] == "limit":
            (card,) = [c for c in clerk.all("list_cards") if c["account"] == account]
            limit = card["day_limit"] + amount
            clerk.change(
                lambda: clerk.all("list_cards"), "set_card_limit", card=card["id"], limit=limit
            )
        elif case["kind"] == "collection":
            asked = {"payee": case["payee"], "amount": amount, "note": note}
            clerk.change(lambda: clerk.all("list_requests"), "request_money", **asked)
        else:
            order = {
                "account": account,
                "payee": case["payee"],
                "amount": amount,
                "day": case["day_of_month"],
            }
            clerk.change(
                lambda: clerk.all("list_standing_orders"), "create_standing_order", **order
            )


class OfficeActs:
    """Meetings, notices and more."""

    def level(self, clerk, trait, case):
        assert trait == "the number of events in the calendar on the day that the case is for"
        return len(self.events(clerk, case))

    def events(self, clerk, case):
        return clerk.all("list_events", day=case["for_day"])

    def hour(self, clerk, case):
        taken = [int(event["start"][:2]) for event in self.events(clerk, case)]
        return next((hour for hour in range(9, 17) if hour not in taken), None)

    def is_possible(self, clerk, case):
        return case["kind"] != "meeting" or self.hour(clerk, case) is not None

    def act(self, clerk, case):
        (who,) = [c["email"] for c in clerk.ask("find_contacts", words=case["person"])]
        title, amount = f"Case {case['id']}", str(case["amount"])

        def events():
            return self.events(clerk, case)

        if case["kind"] == "meeting":
            hour = self.hour(clerk, case)
            times = {"start": f"{hour:02d}:00", "end": f"{hour + 1:02d}:00"}
            clerk.change(
                events, "create_event", title=title, day=case["for_day"], **times, guests=[who]
            )
        elif case["kind"] == "notice":
            clerk.change(
                lambda: clerk.all("list_mails", folder="sent"),
                "send_mail",
                to=who,
                subject=title,
                body=amount,
            )
        elif case["kind"] == "removal":
            (event,) = [e for e in events() if e["title"] == case["event"]]
            clerk.change(events, "cancel_event", event=event["id"])
        else:
            files = lambda: clerk.all("list_files")  # noqa: E731
            if case["kind"] == "record":
                clerk.change(files, "write_file", path=f"/cases/{case['id']}.txt", content=amount)
            else:
                clerk.change(files, "share_file", path=case["file"], email=who)


class HomeActs:
    """Light, warmth and more."""

    def level(self, clerk, trait, case):
        assert trait == "the number of lamps that are on in the room of the case"
        return sum(lamp["on"] for lamp in self.those(clerk, case, "lamp"))

    def those(self, clerk, case, kind):
        found = clerk.all("list_devices", room=case["room"], kind=kind)
        return [clerk.ask("read_device", device=row["id"]) for row in found]

    def is_possible(self, clerk, case):
        (heating,) = self.those(clerk, case, "heating")
        return case["kind"] != "warmth" or heating["level"] + case["degrees"] <= 24

    def act(self, clerk, case):
        (heating,) = self.those(clerk, case, "heating")
        if case["kind"] in ("light", "dark"):
            on = case["kind"] == "light"
            for lamp in self.those(clerk, case, "lamp"):
                if lamp["on"] != on:
                    look = partial(clerk.ask, "read_device", device=lamp["id"])
                    clerk.change(look, "switch", device=lamp["id"], on=on)
        elif case["kind"] == "warmth":
            level = heating["level"] + case["degrees"]
            look = lambda: self.those(clerk, case, "heating")  # noqa: E731
            clerk.change(look, "set_level", device=heating["id"], level=level)
        elif case["kind"] == "routine":
            timed = {"device": heating["id"], "time": case["at"], "action": case["action"]}
            clerk.change(lambda: clerk.all("list_schedules"), "add_schedule", **timed)
        else:
            thing = f"Case {case['id']}: {case['amount']}"
            clerk.change(lambda: clerk.all("list_shopping"), "add_to_shopping", thing=thing)


class ShopActs:
    """Cancellations, returns and more."""

    def level(self, clerk, trait, case):
        assert (
            trait
            == "the sum of the prices of those items of the order that are in the state bought"
        )
        order = clerk.ask("read_order", order=case["order"])
        return sum(item["price"] for item in order["items"] if item["state"] == "bought")

    def is_possible(self, clerk, case):
        order = clerk.ask("read_order", order=case["order"])
        (me,) = clerk.ask("find_customers_by_name", name=case["person"])
        if order["customer"] != me["id"]:
            return False
        if case["kind"] == "cancellation":
            return order["state"] in ("pending", "packed")
        states = {item["item"]: item["state"] for item in order["items"]}
        return case["kind"] != "return" or states[case["item"]] == "bought"

    def act(self, clerk, case):
        order, amount = case["order"], case["amount"]
        look = lambda: clerk.ask("read_order", order=order)  # noqa: E731
        if case["kind"] == "cancellation":
            clerk.change(look, "cancel_order", order=order)
        elif case["kind"] == "address":
            clerk.change(look, "change_street", order=order, street=case["street"])
        elif case["kind"] == "return":
            clerk.change(look, "return_item", item=case["item"])
        elif case["kind"] == "voucher":
            (me,) = clerk.ask("find_customers_by_name", name=case["person"])
            given = {"customer": me["id"], "request": "return", "amount": amount}
            clerk.change(lambda: clerk.all("list_vouchers"), "give_voucher", **given)
        else:
            clerk.change(
                lambda: clerk.all("list_charges"), "charge_order", order=order, amount=amount
            )


class ApiActs:
    """Requests to a service, as its documents say."""

    def documents(self, clerk):
        if not hasattr(clerk, "service"):
            clerk.service = {
                t: clerk.ask("read_document", title=t) for t in clerk.all("list_documents")
            }
        return clerk.service

    def send(self, clerk, title, look=None, **values):
        documents = self.documents(clerk)
        words = documents[title]
        method, path = re.match(r"(\w+) (\S+)", words).groups()
        meant = {"the name of": "name", "the state": "state", "the full name": "keeper"}
        params = dict(
            re.findall(r"needs the parameter (\w+) with the text (\w+)", documents["Access"])
        )
        for label, told in re.findall(r"Parameter (\w+): (.*)\.", words):
            part = next((part for start, part in meant.items() if told.startswith(start)), "amount")
            params[label] = values[part]
        request = {
            "method": method,
            "path": path.replace("<name>", values["name"]),
            "params": params,
        }
        if look is None:
            return clerk.ask("send_request", **request)
        return clerk.change(look, "send_request", **request)

    def factor(self, clerk):
        return int(re.search(r"is written as (\d+)", self.documents(clerk)["Units"])[1])

    def codes(self, clerk):
        return {
            state: code
            for code, state in re.findall(r"(\w+) is (\w+)", self.documents(clerk)["Codes"])
        }

    def title(self, clerk, start):
        """The document of a change or of reading; of changes, the one of the amount."""
        others = ("Changing the state", "Changing the keeper")
        return next(
            t
            for t in self.documents(clerk)
            if t.startswith(start) and t not in others and "(" not in t
        )

    def read(self, clerk, name):
        """The answer of the service about a record, or None if it was removed."""
        title = self.title(clerk, "Reading")
        with contextlib.suppress(AssertionError):
            return self.send(clerk, title, name=name)
        return None

    def amount(self, clerk, name):
        told = self.read(clerk, name)
        what = re.search(r"holds the name, the (\w+) in", clerk.player.env.task.prompt)[1]
        gives = self.documents(clerk)[self.title(clerk, "Reading")].rpartition("object: ")[2]
        return (
            None
            if told is None
            else told[re.search(rf"(\w+) is the {what}", gives)[1]] // self.factor(clerk)
        )

    def level(self, clerk, trait, case):
        assert trait.endswith("(0 if it has been removed)")
        return self.amount(clerk, case["record"]) or 0

    def is_possible(self, clerk, case):
        return self.amount(clerk, case["record"]) is not None

    def act(self, clerk, case):
        name, kind = case["record"], case["kind"]

        def look():
            return self.read(clerk, name)

        if kind in ("setting", "raise"):
            amount = case["amount"] + (self.amount(clerk, name) if kind == "raise" else 0)
            title = self.title(clerk, "Changing")
            self.send(clerk, title, look, name=name, amount=amount * self.factor(clerk))
        elif kind == "state":
            self.send(
                clerk, "Changing the state", look, name=name, state=self.codes(clerk)[case["state"]]
            )
        elif kind == "keeper":
            self.send(clerk, "Changing the keeper", look, name=name, keeper=case["person"])
        else:
            self.send(clerk, self.title(clerk, "Removing"), look, name=name)


ACTS = {
    "office": OfficeActs(),
    "bank": BankActs(),
    "home": HomeActs(),
    "shop": ShopActs(),
    "api-docs": ApiActs(),
}
