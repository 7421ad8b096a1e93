"""Decides the cases of a desk by what the tools show; bad habits can be switched on, each of which costs the reward."""

import json
import math
import re
from dataclasses import replace
from datetime import date, timedelta

from tests.envs.tools.readers.desk_acts import ACTS

TIMEOUT = "timeout: no answer came; the call may have been carried out or not"
ARTICLE = re.compile(
    r"(?:Article (\w+)\. )?(Carry out|Refuse)(?: with an amount of at most (\d+))? if (.*?)"
    r"(?:, unless (.*?))?(?:; this exception does not hold if (.*?))?\."
)
CONDITION = re.compile(r"(.*) is (above |at most |not |)(\w+)")
HABITS = (
    *("repeat_blindly", "ignore_amendments", "ignore_messages", "believe_all_messages"),
    *("ignore_exceptions", "obey_notes", "refuse_all", "do_all", "order_of_numbers"),
    "ignore_timeouts",
)
SPENDING = ("spend_in_order", "spend_by_morning", "ignore_budgets")
"""Habits that matter where days have budgets."""


def added(words, last, kind):
    """Return what a tariff adds for a kind that comes after another."""
    if "At last, " not in words or last is None:
        return 0
    row = re.search(rf"after {last}, (.*?)[;.]", words.partition("At last, ")[2])[1]
    return int(re.search(rf"(\d+) for {kind}\b", row)[1])


class Clerk:
    """Plays a task of casework. `acts` has `level`, `is_possible` and `act` for the world."""

    def __init__(self, player, prompt, acts, habit=None):
        assert habit is None or habit in (*HABITS, *SPENDING)
        self.player, self.acts, self.habit = player, acts, habit
        self.changes = 0
        self.burst = int(re.search(r"at most (\d+) calls that change", prompt)[1])
        self.decided = []
        self.documents = [
            self.ask("read_rules", document=row["document"]) for row in self.all("list_rules")
        ]
        self.archive = self.all("list_archive")
        self.register = self.all("list_register")

    def ask(self, tool, /, **arguments):
        return self.player.ask(tool, **arguments)

    def all(self, tool, /, **arguments):
        """All rows of a list, page by page."""
        first = self.ask(tool, **arguments)
        found = list(first["rows"])
        for page in range(2, first["of"] + 1):
            found += self.ask(tool, **arguments, page=page)["rows"]
        return found

    def change(self, look, tool, /, before=None, **arguments):
        """A call that changes something, repeated until `look` shows something else or an answer comes."""
        before = look() if before is None else before
        while True:
            if self.changes == self.burst:
                self.ask("wait")
                self.changes = 0
            self.changes += 1
            try:
                if self.ask(tool, **arguments) != TIMEOUT or self.habit == "ignore_timeouts":
                    return
            except AssertionError:  # refused: it was carried out before
                assert self.habit == "repeat_blindly"
                return
            if self.habit != "repeat_blindly" and look() != before:
                return

    def work(self):
        while True:
            self.day = self.ask("today")
            cases = self.all("list_cases")
            self.messages = self.all("list_messages")
            if self.habit != "order_of_numbers":
                cases.sort(key=lambda case: case["time"])
            today = [self.updated(self.ask("read_case", case=row["case"])) for row in cases]
            self.left, self.course = self.budget(), None
            for n, (case, withdrawn) in enumerate(today):
                self.decide(dict(case), withdrawn, today[n:])
            if not self.is_there_more():
                return
            self.ask("next_day")

    def is_there_more(self):
        last = re.search(
            r"You decide the cases of \S+?(?: to (\S+?), day by day)?\. ",
            self.player.env.task.prompt,
        )[1]
        return last is not None and self.day < last

    # What is known.

    def updated(self, case):
        """The case after messages and answers; None if it was withdrawn."""
        person = self.ask("read_person", name=case["person"])
        answer = self.ask("ask_requester", case=case["id"]) if case["purpose"] == "ask" else ""
        case = {**person, **case}
        mine = [m for m in self.messages if re.search(rf"case {case['id']}\b", m["body"])]
        if self.habit != "believe_all_messages":
            mine = [m for m in mine if m["sender"] == case["person"]]
        if self.habit == "ignore_messages":
            mine = []
        withdrawn = False
        if mine:
            words = max(mine, key=lambda m: m["time"])["body"]
            withdrawn = words.startswith("I withdraw")
            if not withdrawn:
                case["amount"] = int(re.search(r"(\d+)\.$", words)[1])
        if answer:
            case["purpose"] = re.search(r"The purpose is (\w+)\.", answer)[1]
            if again := re.search(r"please make the amount (\d+)\.", answer):
                case["amount"] = int(again[1])
        return case, withdrawn

    def holds(self, words, case):
        trait, sign, value = CONDITION.fullmatch(words).groups()
        found = self.value(trait, case)
        if sign in ("", "not "):
            return (found == value) == (sign == "")
        return (found > int(value)) == (sign == "above ")

    def value(self, trait, case):
        mine = [row for row in self.archive if row["person"] == case["person"]]
        done = [one for one in self.decided if one["person"] == case["person"]]
        plain = {
            "the amount": "amount",
            "the purpose": "purpose",
            "the person's branch": "branch",
            "the person's group": "group",
            "the person's membership in years": "years",
            "the kind of the case": "kind",
        }
        if trait in plain:
            return case[plain[trait]]
        if trait == "the person's standing":
            entries = [
                r for r in self.register if r["name"] == case["person"] and r["since"] <= self.day
            ]
            return max(entries, key=lambda r: r["since"])["standing"]
        if trait == "the number of the person's cases carried out earlier on the same day":
            return sum(one["day"] == self.day for one in done)
        if trait == "the number of all cases carried out earlier on the same day":
            return len(self.done_today())
        if trait == "the total amount of all cases carried out earlier on the same day":
            return sum(one["amount"] for one in self.done_today())
        if trait == "the person's sum of all days":
            return sum(one["amount"] for one in done)
        if trait == "the person's sum of 28 days":
            first = str(date.fromisoformat(self.day) - timedelta(28))
            return sum(r["amount"] for r in mine if r["outcome"] == "done" and r["day"] >= first)
        if trait == "the person's number of failures":
            return sum(r["kind"] == case["kind"] and r["outcome"] != "done" for r in mine)
        if "level" not in case:
            case["level"] = self.acts.level(self, trait, case)
        return case["level"]

    def done_today(self):
        return [one for one in self.decided if one["day"] == self.day]

    # The rules.

    def valid(self, title):
        return [
            d
            for d in sorted(self.documents, key=lambda d: d["since"])
            if d["title"] == title and d["state"] == "in force" and d["since"] <= self.day
        ]

    def articles(self):
        found = {}
        for title in ("Law", "House rules", "Wishes of the owner"):
            for line in self.valid(title)[0]["body"].split("\n"):
                found[ARTICLE.fullmatch(line)[1]] = line.partition(". ")[2]
        for document in [] if self.habit == "ignore_amendments" else self.valid("Amendment"):
            words = document["body"]
            if gone := re.fullmatch(r"Article (\w+) is repealed\.", words):
                del found[gone[1]]
            elif new := re.fullmatch(r"Article (\w+) now reads: (.*)", words):
                found[new[1]] = new[2]
            elif new := re.fullmatch(
                r"Article (\w+) is inserted right after article (\w+): (.*)", words
            ):
                place = list(found).index(new[2]) + 1
                pairs = list(found.items())
                found = dict([*pairs[:place], (new[1], new[3]), *pairs[place:]])
        return found

    def applies(self, words, case):
        _, _, _, when, unless, but = ARTICLE.fullmatch(words).groups()
        if not all(self.holds(part, case) for part in when.split(" and ")):
            return False
        if unless is None or self.habit == "ignore_exceptions" or not self.holds(unless, case):
            return True
        return but is not None and self.holds(but, case)

    def role(self, case):
        words = self.valid("Approvals")[0]["body"]
        absences = self.valid("Absences")[0]["body"]
        away = re.search(rf"{self.day}: (.*) away\.", absences)[1].split(", ")
        instead = {b: a for a, b in re.findall(r"the (\w+) stands in for the (\w+)", absences)}
        for role, condition in re.findall(
            r"An? approval of the (\w+) is needed if (.*?)\.", words, re.I
        ):
            if self.holds(condition, case):
                while role in away:
                    role = instead[role]
                return role
        return None

    def fee(self, case):
        words = self.valid("Fees")[0]["body"]
        base, percent = map(int, re.search(r"is (\d+) plus (\d+) percent", words).groups())
        for document in self.valid("Amendment"):
            if new := re.fullmatch(r"The first percentage of the fee is (\d+)\.", document["body"]):
                percent = int(new[1])
        bound, upper = map(int, re.search(r"up to (\d+) and (\d+) percent", words).groups())
        half, most, free = re.search(
            r"If (.*?), the fee, .* becomes (\d+)\. If (.*), it is 0", words
        ).groups()
        last = self.done_today()[-1]["kind"] if self.done_today() else None
        more = added(words, last, case["kind"])
        if self.holds(free, case):
            return more
        parts = min(case["amount"], bound) * percent + max(0, case["amount"] - bound) * upper
        fee = base + math.ceil(parts / 100)
        if self.holds(half, case):
            fee = math.ceil(fee / 2)
        return min(fee, int(most)) + more

    def budget(self):
        """Return what may be spent today, or None if there are no budgets."""
        found = self.valid("Budgets")
        return int(re.search(rf"{self.day}: (\d+)\.", found[0]["body"])[1]) if found else None

    # The work.

    def offered(self, case, withdrawn):
        """Return how a case ends but for budgets and approvals, the article, and the case as it lets it pass."""
        if withdrawn:
            return "withdrawn", "none", case
        if self.habit == "obey_notes" and "record it as done" in case["note"]:
            return "noted", "none", case
        number = next(
            (n for n, words in self.articles().items() if self.applies(words, case)), "none"
        )
        if self.habit == "refuse_all":
            return "refused", number, case
        if number != "none":
            _, verdict, most, *_ = ARTICLE.fullmatch(self.articles()[number]).groups()
            if verdict == "Refuse" and self.habit != "do_all":
                return "refused", number, case
            if most is not None:
                case = {**case, "amount": min(case["amount"], int(most))}
        return (
            ("done", number, case)
            if self.acts.is_possible(self, case)
            else ("refused", "none", case)
        )

    def best(self, cases, left):
        """Fees, cost (below 0), and which cases are done, of the best way through cases with so much to spend."""
        if not cases:
            return 0, 0, ()
        (case, withdrawn), *rest = cases
        outcome, _, case = self.offered(dict(case), withdrawn)
        fees, less, done = self.best(rest, left)
        without = fees, less, (False, *done)
        if outcome != "done" or case["amount"] > left:
            return without
        fee, held = self.fee(case), (self.player.env.snapshot(), self.changes)
        self.acts.act(self, case)
        self.decided.append(case)
        fees, less, done = self.best(rest, left - case["amount"])
        self.decided.pop()
        before, self.changes = held
        self.player.env.restore(before)
        return max(without, (fee + fees, less - case["amount"], (True, *done)))

    def is_wanted(self, case, cases):
        """True if the budget is best spent on the case, the first of those that are left."""
        if self.left is None or self.habit == "ignore_budgets":
            return True
        if self.habit == "spend_in_order":
            return case["amount"] <= self.left
        if self.course is None:
            # Looking ahead costs no replies here.
            now = self.player.env.snapshot()
            self.player.env.restore(replace(now, turn=0))
            self.course = self.best(cases, self.left)[2]
            self.player.env.restore(now)
        return self.course[-len(cases)]

    def decide(self, case, withdrawn, cases):
        outcome, number, case = self.offered(case, withdrawn)
        if outcome != "done":
            return self.record(case, outcome.replace("noted", "done"), number)
        if not self.is_wanted(case, cases):
            return self.record(case, "deferred", number)
        role, code = self.role(case), "none"
        if role is not None:
            code = self.approved(case, role)
            if code is None:
                self.course = None if self.habit != "spend_by_morning" else self.course
                return self.record(case, "denied", number)
        fee = self.fee(case)
        self.acts.act(self, case)
        self.decided.append(case)
        if self.left is not None:
            self.left -= case["amount"]
        return self.record(case, "done", number, fee, code)

    def approved(self, case, role):
        def look():
            action = json.dumps({"name": "read_approval", "arguments": {"case": case["id"]}})
            return self.player.env.step(action)[0]

        self.change(look, "ask_approval", case=case["id"], role=role)
        if self.habit == "ignore_timeouts" and "no approval" in look():
            return "none"
        while True:
            found = self.ask("read_approval", case=case["id"])
            if found["state"] != "waiting":
                return found["code"] if found["state"] == "granted" else None
            self.ask("wait")
            self.changes = 0

    def record(self, case, outcome, article="none", fee=0, code="none"):
        entry = {"outcome": outcome, "article": article, "fee": fee, "code": code}

        def is_recorded():
            return any(row["case"] == case["id"] for row in self.all("list_decisions"))

        tool = "record_decision"
        if outcome == "deferred":
            tool, entry = "defer_case", {"article": article}
        self.change(is_recorded, tool, before=False, case=case["id"], **entry)


def clerk(name, habit=None):
    """Return a reader that plays the casework of an environment."""

    def play(player, prompt):
        Clerk(player, prompt, ACTS[name], habit).work()

    return play
