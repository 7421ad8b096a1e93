"""Freight of `tools/call`, from level 7 on: worked out a second way, from the words of the prompt alone."""

import itertools
import json
import math
import re
from datetime import datetime, timedelta

import pytest

import verigym
from tests.envs.tools.readers.desk import ARTICLE, CONDITION, added

NAMES = {
    "the weight": "weight",
    "the value": "value",
    "the kind of goods": "goods",
    "the client's tier": "tier",
    "the client's currency": "currency",
    "the number of earlier bookings of the client": "earlier",
    "the total weight of earlier bookings of the client": "sum",
    "the hour of the ready time": "hour",
    "the number of earlier bookings of all clients": "all",
    "the total weight of earlier bookings of all clients": "total",
}
HABITS = (
    "nothing",
    "book_all",
    "reject_all",
    "no_exceptions",
    "local_times",
    "one_truck",
    "no_invoice",
)
OF_LIMITS = ("book_what_fits", "no_limit")
"""Habits where there is a limit of kilograms."""


def holds(words, facts):
    trait, sign, value = CONDITION.fullmatch(words).groups()
    found = facts[NAMES[trait]]
    if sign in ("", "not "):
        return (found == value) == (sign == "")
    return (found > int(value)) == (sign == "above ")


def minutes(words):
    sign, hours, rest = re.fullmatch(r"([+-])(\d\d):(\d\d)", words).groups()
    return int(f"{sign}1") * (60 * int(hours) + int(rest))


def ceil(a, b):
    return math.ceil(a / b)


class Reader:
    """Reads the tables of a prompt, and dispatches."""

    def __init__(self, prompt, habit=None):
        self.prompt, self.habit = prompt, habit
        self.clients = {
            n: (t, c) for n, t, c in re.findall(r"- (.*): tier (\w+), currency (\w+)", prompt)
        }
        self.ahead = {
            c: minutes(m) for c, m in re.findall(r"- (\w+): ([+-]\d\d:\d\d)$", prompt, re.M)
        }
        self.rates = {
            c: round(100 * float(r)) for r, c in re.findall(r"- (\d+\.\d\d) (\w+)$", prompt, re.M)
        }
        self.handling = {g: int(m) for g, m in re.findall(r"- (\w+): (\d+) minutes", prompt)}
        self.routes = {
            (a, b): (60 * int(h) + int(m), int(kg))
            for a, b, h, m, kg in re.findall(
                r"- (\w+) to (\w+): (\d+) h (\d+) min, (\d+) kg", prompt
            )
        }
        self.articles = [
            (number, rest) for number, rest in re.findall(r"^- Article (\w+)\. (.*)$", prompt, re.M)
        ]
        self.booked, self.prices, self.loads, self.calls = [], {}, {}, []

    def price(self, weight, facts):
        base, one, bound, two = map(
            int,
            re.search(
                r"is (\d+) euros plus (\d+) cents a kilogram for the first (\d+) kilograms and (\d+) cents",
                self.prompt,
            ).groups(),
        )
        half, most, free = re.search(
            r"once\. If (.*?), the price, .* most (\d+) euros\. If (.*), it is 0", self.prompt
        ).groups()
        more = added(self.prompt, facts["before"], facts["goods"])
        if holds(free, facts):
            return more
        price = base + ceil(min(weight, bound) * one + max(0, weight - bound) * two, 100)
        return min(ceil(price, 2) if holds(half, facts) else price, int(most)) + more

    def applies(self, words, facts):
        _, _, _, when, unless, but = ARTICLE.fullmatch(words).groups()
        if not all(holds(part, facts) for part in when.split(" and ")):
            return False
        if unless is None or self.habit == "no_exceptions" or not holds(unless, facts):
            return True
        return but is not None and holds(but, facts)

    def work(self):
        line = r"^- (\d+): (.*), (\d+) (kg|lb|oz) of (\w+), value (\d+) euros, (\w+) to (\w+), ready at (.*)$"
        lines = re.findall(line, self.prompt, re.M)
        limit = re.search(r"At most (\d+) kilograms", self.prompt)
        self.limit = int(limit[1]) if limit else None
        self.chosen = [int(found[0]) for found in lines]
        if limit and self.habit not in (*OF_LIMITS, "book_all", "reject_all"):
            taken = self.best(lines, [], self.limit)[2]
            self.chosen = list(itertools.compress(self.chosen, taken))
        for found in lines:
            self.dispatch(*found)
        for client in self.clients:
            prices = self.prices.get(client, [])
            if len(prices) > 1 and self.habit != "no_invoice":
                self.add("send_invoice", client=client, total=sum(prices))
        return self.calls

    def add(self, name, **arguments):
        self.calls.append({"name": name, "arguments": arguments})

    def judged(self, found, booked):
        """The facts of a consignment after bookings of clients, goods and weights, and the article that decides it."""
        _, client, amount, unit, goods, value, _, _, ready = found
        grams = int(amount) * {"kg": 1000, "lb": 454, "oz": 28}[unit]
        mine = [kg for whose, _, kg in booked if whose == client]
        facts = {"weight": ceil(grams, 1000), "value": int(value), "goods": goods}
        facts |= {"hour": int(ready[11:13]), "earlier": len(mine), "sum": sum(mine)}
        facts |= {"all": len(booked), "total": sum(kg for _, _, kg in booked)}
        facts["before"] = booked[-1][1] if booked else None
        facts["tier"], facts["currency"] = self.clients[client]
        article = next((n for n, words in self.articles if self.applies(words, facts)), None)
        return grams, facts, article

    def best(self, lines, booked, left):
        """Price, weight (below 0) and which of some consignments are booked, the best of all ways through them."""
        if not lines:
            return 0, 0, ()
        found, rest = lines[0], lines[1:]
        price, less, chosen = self.best(rest, booked, left)
        without = price, less, (False, *chosen)
        _, facts, article = self.judged(found, booked)
        refused = article is not None and "Refuse" in dict(self.articles)[article]
        weight = facts["weight"]
        if refused or weight > left:
            return without
        own = self.price(weight, facts)
        price, less, chosen = self.best(
            rest, [*booked, (found[1], found[4], weight)], left - weight
        )
        return max(without, (price + own, less - weight, (True, *chosen)))

    def dispatch(self, number, client, amount, unit, goods, value, origin, destination, ready):
        found = (number, client, amount, unit, goods, value, origin, destination, ready)
        grams, facts, article = self.judged(found, self.booked)
        weight = facts["weight"]
        refused = article is not None and "Refuse" in dict(self.articles)[article]
        if self.habit == "reject_all" or (refused and self.habit != "book_all"):
            return self.add("reject", consignment=int(number), article=article or "L1")
        chosen = int(number) in self.chosen
        if self.habit == "book_what_fits":
            load = sum(kg for _, _, kg in self.booked)
            chosen = load + weight <= (self.limit or math.inf)
        if not chosen and self.habit not in ("book_all", "no_limit"):
            return self.add("postpone", consignment=int(number))
        price = ceil(self.price(weight, facts) * self.rates[facts["currency"]], 100)
        self.booked.append((client, goods, weight))
        self.prices.setdefault(client, []).append(price)
        duration, capacity = self.routes[origin, destination]
        truck, load = self.loads.get((origin, destination), (1, 0))
        if load + weight > capacity and self.habit != "one_truck":
            truck, load = truck + 1, 0
        self.loads[origin, destination] = truck, load + weight
        start = datetime.fromisoformat(ready) + timedelta(minutes=self.handling[goods])
        if self.habit != "local_times":
            start -= timedelta(minutes=self.ahead[origin])
        start = datetime.min + ceil(start - datetime.min, timedelta(minutes=15)) * timedelta(
            minutes=15
        )
        end = start + timedelta(minutes=duration + self.ahead[destination])
        more = {}
        if holds(re.search(r"service: express if (.*); otherwise", self.prompt)[1], facts):
            more["service"] = "express"
        if int(value) > int(re.search(r"cover: if the value is above (\d+)", self.prompt)[1]):
            more["cover"] = 100 * ceil(int(value), 100)
        times = {"departs": start.isoformat()[:16], "arrives": end.isoformat()[:16]}
        return self.add(
            "book", consignment=int(number), truck=truck, grams=grams, price=price, **times, **more
        )


def earned(level, seed, habit=None):
    env = verigym.make("tools/call-v0", difficulty=level)
    env.reset(seed=seed)
    calls = [] if habit == "nothing" else Reader(env.task.prompt, habit).work()
    return env.step(json.dumps(calls))[1]


@pytest.mark.parametrize("level", [7, 8, 9, pytest.param(10, marks=pytest.mark.slow)])
def test_a_reader_of_the_prompt_makes_the_same_calls(level):
    assert all(earned(level, seed) == 1.0 for seed in range({7: 40, 8: 8, 9: 3, 10: 1}[level]))


@pytest.mark.parametrize("level", [7, 8])
@pytest.mark.parametrize("habit", HABITS)
def test_shortcuts_are_not_paid(habit, level):
    assert sum(earned(level, seed, habit) for seed in range(20 if level == 7 else 6)) == 0


@pytest.mark.parametrize("level", [8, 9, 10])
@pytest.mark.parametrize("habit", OF_LIMITS)
def test_who_spends_the_limit_simply_is_not_paid(habit, level):
    assert sum(earned(level, seed, habit) for seed in range(20 if level == 7 else 6)) == 0


def test_every_level_has_more_consignments():
    env = verigym.make("tools/call-v0")
    counts = []
    for level in range(7, 11):
        env.reset(seed=1, options={"difficulty": level})
        counts.append(
            sum(
                "ready at" in line for line in env.task.prompt.split("Consignments:")[1].split("\n")
            )
        )
        names = {one["name"] for one in env.task.reference["expected"]}
        assert names <= {tool["function"]["name"] for tool in env.tools()}
    assert counts == [7, 10, 14, 22]
