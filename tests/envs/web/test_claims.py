"""Claims of `web/forms`, from level 8 on: decided a second way by who reads the pages alone, and with bad habits."""

import itertools
import math
import re

import pytest

import verigym
from tests.envs.tools.readers.desk import ARTICLE, CONDITION, added
from verigym.envs.web.claims_turns import turns_needed

NAMES = {
    "the amount": "amount",
    "the kind of the claim": "kind",
    "the person's branch": "branch",
    "the person's group": "group",
    "the person's membership in years": "years",
    "the number of earlier claims of the person": "earlier",
    "the total of earlier claims of the person": "sum",
    "the number of earlier claims of all persons": "all",
    "the total of earlier claims of all persons": "total",
}
HABITS = (
    *("pay_all", "refuse_all", "no_amendments", "no_exceptions", "obey_remarks", "drafts_hold"),
    *("pay_while_it_lasts", "ignore_the_budget"),
)


def made(level=8, seed=0):
    env = verigym.make("web/forms-v0", difficulty=level)
    env.reset(seed=seed)
    return env


def holds(words, facts):
    trait, sign, value = CONDITION.fullmatch(words).groups()
    found = facts[NAMES[trait]]
    if sign in ("", "not "):
        return (str(found) == value) == (sign == "")
    return (int(found) > int(value)) == (sign == "above ")


class Clerk:
    """Clicks through the site by labels; signs in again where it has to."""

    def __init__(self, env, habit=None):
        self.env, self.habit, self.paid, self.turns = env, habit, [], 1

    def step(self, verb, label, text=""):
        number = next(
            n
            for n, _, found in re.findall(r'^\[(\d+)\] (\w+) "([^"]*)"', self.env.view(), re.M)
            if found == label
        )
        self.turns += 1
        _, _, over, truncated, info = self.env.step(f"{verb} {number} {text}".strip())
        assert info["valid_action"]
        assert not over
        assert not truncated
        if label != "PIN" and "Your session has ended" in self.env.view():
            pin = re.search(r"its PIN is (\d+)", self.env.task.prompt)[1]
            self.step("type", "PIN", pin)
            self.step("click", "Sign in")
            return True
        return False

    def lines(self):
        """The lines of all pages from here on."""
        pages = [self.env.view()]
        while '"Next page"' in pages[-1]:
            self.step("click", "Next page")
            pages.append(self.env.view())
        return pages

    def read(self):
        self.step("click", "People")
        person = r"^(.*): branch (\w+), group (\w+), (\d+) years"
        self.people = {
            name: {"branch": b, "group": g, "years": y}
            for page in self.lines()
            for name, b, g, y in re.findall(person, page, re.M)
        }
        self.step("click", "Back to the claims")
        self.step("click", "Rules")
        documents = []
        for page in self.lines():
            head, rest = re.search(r'^page "Rules"\n(.*)\n((?:[^\[P].*\n)+)', page).groups()
            title, state, since = re.fullmatch(r"(.*) \((.*), since (\S+)\)", head).groups()
            drafts = self.habit == "drafts_hold"
            if (state == "in force" or drafts) and since <= "2026-03-05":
                documents.append((since, title, rest.strip()))
        self.step("click", "Back to the claims")
        titles = {title: body for _, title, body in documents}
        self.fees = titles["Fees"]
        self.budget = int(re.search(r"at most (\d+) euros", titles["Budget"])[1])
        self.articles = {}
        for title in ("Law", "House rules", "Wishes of the owner"):
            for line in titles[title].split("\n"):
                self.articles[ARTICLE.fullmatch(line)[1]] = line.partition(". ")[2]
        for _, title, words in documents:
            if title == "Amendment" and self.habit != "no_amendments":
                self.amend(words)

    def amend(self, words):
        if gone := re.fullmatch(r"Article (\w+) is repealed\.", words):
            del self.articles[gone[1]]
        elif new := re.fullmatch(r"Article (\w+) now reads: (.*)", words):
            self.articles[new[1]] = new[2]
        else:
            new = re.fullmatch(r"Article (\w+) is inserted right after article (\w+): (.*)", words)
            pairs = list(self.articles.items())
            place = list(self.articles).index(new[2]) + 1
            self.articles = dict([*pairs[:place], (new[1], new[3]), *pairs[place:]])

    def applies(self, words, facts):
        _, _, _, when, unless, but = ARTICLE.fullmatch(words).groups()
        if not all(holds(part, facts) for part in when.split(" and ")):
            return False
        if unless is None or self.habit == "no_exceptions" or not holds(unless, facts):
            return True
        return but is not None and holds(but, facts)

    def fee(self, facts):
        base, one, bound, two = map(
            int,
            re.search(
                r"is (\d+) plus (\d+) percent .* up to (\d+) and (\d+) percent", self.fees
            ).groups(),
        )
        half, most, free = re.search(
            r"once\. If (.*?), the fee, .* becomes (\d+)\. If (.*), it is 0", self.fees
        ).groups()
        more = added(self.fees, facts["before"], facts["kind"])
        amount = facts["amount"]
        fee = base + math.ceil((min(amount, bound) * one + max(0, amount - bound) * two) / 100)
        fee = math.ceil(fee / 2) if holds(half, facts) else fee
        return more if holds(free, facts) else min(fee, int(most)) + more

    def table(self):
        """Person, amount and kind of each claim by its number."""
        rows = re.findall(
            r"^No\. (\d+), (.*), (\w+), (\d+) EUR, new$", "\n".join(self.lines()), re.M
        )
        return {
            int(number): (person, int(amount), kind)
            for number, person, kind, amount in sorted(rows)
        }

    def judged(self, claim, paid):
        """The article that decides a claim, the amount that it lets pass or None, and the fee of it."""
        person, amount, kind = claim
        mine = [one for whose, _, one in paid if whose == person]
        facts = {**self.people[person], "amount": amount, "kind": kind}
        facts |= {"earlier": len(mine), "sum": sum(mine)}
        facts |= {"all": len(paid), "total": sum(one for _, _, one in paid)}
        facts["before"] = paid[-1][1] if paid else None
        number = next(
            (n for n, words in self.articles.items() if self.applies(words, facts)), "none"
        )
        if number != "none":
            _, verdict, most, *_ = ARTICLE.fullmatch(self.articles[number]).groups()
            if verdict == "Refuse":
                return number, None, 0
            facts["amount"] = min(amount, int(most or amount))
        return number, facts["amount"], self.fee(facts)

    def best(self, numbers, paid, left):
        """Fees, cost (below 0) and which of some claims are paid, the best of all ways through them."""
        if not numbers:
            return 0, 0, ()
        fees, less, chosen = self.best(numbers[1:], paid, left)
        without = fees, less, (False, *chosen)
        person, _, kind = claim = self.claims[numbers[0]]
        _, amount, fee = self.judged(claim, paid)
        if amount is None or amount > left:
            return without
        after = [*paid, (person, kind, amount)]
        fees, less, chosen = self.best(numbers[1:], after, left - amount)
        return max(without, (fee + fees, less - amount, (True, *chosen)))

    def choose(self):
        """The numbers of the claims that are paid."""
        numbers = sorted(self.claims)
        return list(itertools.compress(numbers, self.best(numbers, [], self.budget)[2]))

    def work(self):
        self.read()
        self.claims = self.table()
        self.chosen = self.choose()
        self.left = self.budget
        for number in sorted(self.claims):
            while True:
                if self.step("type", "Number of a claim", str(number)) or self.step(
                    "click", "Open claim"
                ):
                    continue
                if self.decide():
                    break
        return self.env.step("done")[1]

    def decide(self):
        """True if the decision was confirmed."""
        person, amount, kind, receipt = re.search(
            r"^(.*) claims (\d+) EUR for (\w+); receipt (.*)\.$", self.env.view(), re.M
        ).groups()
        number, allowed, fee = self.judged((person, int(amount), kind), self.paid)
        if self.habit == "obey_remarks" and "No article applies" in self.env.view():
            number, allowed = "none", int(amount)
        if self.habit == "pay_all":
            number, allowed = "none", int(amount)
        if self.habit == "refuse_all":
            number, allowed = "L1", None
        paid, outcome = allowed or 0, "refused" if allowed is None else "paid"
        wanted = int(re.search(r'^page "Claim (\d+)"', self.env.view(), re.M)[1]) in self.chosen
        if self.habit == "pay_while_it_lasts":
            wanted = paid <= self.left
        if (
            allowed is not None
            and not wanted
            and self.habit not in ("ignore_the_budget", "pay_all")
        ):
            paid, outcome = 0, "deferred"
        fee = fee if paid else 0
        for label, value in (("Article", number), ("Amount paid", paid), ("Fee", fee)):
            self.step("type", label, str(value))
        self.step("type", "Receipt", receipt if paid > 100 else "")
        self.step("select", "Outcome", outcome)
        if self.step("click", "Check"):
            return False
        assert 'page "Confirm' in self.env.view(), self.env.view()
        self.step("click", "This cannot be taken back")
        if self.step("click", "Confirm"):
            return False
        if paid:
            self.paid.append((person, kind, paid))
            self.left -= paid
        return True


@pytest.mark.parametrize("level", [8, 9, pytest.param(10, marks=pytest.mark.slow)])
def test_a_reader_of_the_pages_decides_every_claim(level):
    for seed in range({8: 6, 9: 3, 10: 1}[level]):
        env = made(level, seed)
        clerk = Clerk(env)
        assert clerk.work() == 1.0
        tables = env.task.reference["initial"]
        least = turns_needed(*(len(tables[name]) for name in ("people", "rules", "claims")))
        assert clerk.turns == least
        allowed = env.turns_allowed(env.task)
        assert allowed == least * {8: 145, 9: 130, 10: 115}[level] // 100
        assert f"You have {allowed} turns" in env.task.prompt


@pytest.mark.parametrize("habit", HABITS)
def test_shortcuts_are_not_paid(habit):
    paid = [Clerk(made(8, seed), habit).work() for seed in range(6)]
    assert sum(paid) == 0


def test_a_session_ends_and_wants_the_pin():
    env = made()
    for _ in range(30):
        assert "session" not in env.step("click 3")[0]
    assert "Your session has ended." in env.step("click 3")[0]
    env.step("type 1 0")
    assert "That is not the PIN." in env.step("click 2")[0]
    env.step("type 1 " + re.search(r"PIN is (\d+)", env.task.prompt)[1])
    assert 'page "Claims"' in env.step("click 2")[0]
    assert "session" not in env.step("click 3")[0]


@pytest.mark.parametrize(
    ("outcome", "article", "paid", "fee", "receipt", "told"),
    [
        ("(choose)", "L1", "1", "0", "", "Choose an outcome."),
        ("paid", "L", "1", "0", "", "Article must be a number"),
        ("paid", "none", "x", "0", "", "must be whole numbers"),
        ("paid", "none", "0", "0", "", "from 1 to the amount claimed"),
        ("paid", "none", "9999", "0", "", "from 1 to the amount claimed"),
        ("paid", "none", "1", "0", "R-1", "has no receipt"),
        ("refused", "none", "0", "0", "", "needs the number of an article"),
        ("refused", "L1", "0", "3", "", "fee 0, and no receipt"),
    ],
)
def test_the_form_is_checked_as_a_whole(outcome, article, paid, fee, receipt, told):
    env = made()
    clerk = Clerk(env)
    clerk.step("type", "Number of a claim", "101")
    clerk.step("click", "Open claim")
    clerk.step("select", "Outcome", outcome)
    for label, value in zip(
        ("Article", "Amount paid", "Fee", "Receipt"), (article, paid, fee, receipt), strict=True
    ):
        clerk.step("type", label, value)
    clerk.step("click", "Check")
    assert told in env.view()
    assert f'"Article" value "{article}"' in env.view()


def test_nothing_is_decided_without_a_tick_and_nothing_twice():
    env = made()
    while 'page "Confirm' not in env.view():
        env.step(env.oracle())
    assert "Tick the box" in env.step("click 2")[0]
    env.step("click 1")
    assert "Claim 101 is closed." in env.step("click 2")[0]
    Clerk(env).step("type", "Number of a claim", "101")
    Clerk(env).step("click", "Open claim")
    assert "There is no new claim of that number." in env.view()
