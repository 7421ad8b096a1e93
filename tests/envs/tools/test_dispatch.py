"""Freight of `tools/call`, from level 7 on: worked out a second way, from the words of the prompt alone."""

import itertools
import json
import math
import re
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest

import verigym
from tests.envs.tools.readers.desk import ARTICLE, CONDITION, added
from verigym.envs.tools.call import HELD, ask_held
from verigym.envs.tools.dispatch import Dispatcher, draw_freight
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.hold import Hold, HoldLoad, draw_pairs

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
LINE = re.compile(
    r"^- (\d+): (.*), (\d+) (kg|lb|oz) of (\w+)(?:, \d+ litres, crates: \d+)?, value (\d+) euros, (\w+) to (\w+), "
    r"ready at (.*)$",
    re.M,
)


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

    def __init__(self, prompt, habit=None, chosen=None):
        self.prompt, self.habit, self.given = prompt, habit, chosen
        bounds = re.search(r"(\d+) kilograms.* (\d+) litres and at most (\d+) crates", prompt)
        self.bounds = tuple(map(int, bounds.groups())) if bounds else None
        space = re.findall(r"^- (\d+): .*, (\d+) litres, crates: (\d+),", prompt, re.M)
        self.space = {int(n): (int(litres), int(crates)) for n, litres, crates in space}
        self.apart = {
            (int(a), int(b)) for a, b in re.findall(r"^- (\d+) and (\d+): not both", prompt, re.M)
        }
        self.together = {
            (int(a), int(b)): int(euros) if sign == "more" else -int(euros)
            for a, b, euros, sign in re.findall(
                r"^- (\d+) and (\d+): (\d+) euros (more|less)", prompt, re.M
            )
        }
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
        more = added(self.prompt, facts["before"], facts["goods"]) + facts["pairs"]
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
        lines = LINE.findall(self.prompt)
        limit = re.search(r"At most (\d+) kilograms", self.prompt)
        self.limit = int(limit[1]) if limit else None
        self.chosen = [int(found[0]) for found in lines]
        if self.given is not None:
            self.chosen = self.given
        elif limit and self.habit not in (*OF_LIMITS, "book_all", "reject_all"):
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
        number, client, amount, unit, goods, value, _, _, ready = found
        grams = int(amount) * {"kg": 1000, "lb": 454, "oz": 28}[unit]
        mine = [kg for whose, _, kg, _ in booked if whose == client]
        facts = {"weight": ceil(grams, 1000), "value": int(value), "goods": goods}
        facts |= {"hour": int(ready[11:13]), "earlier": len(mine), "sum": sum(mine)}
        facts |= {"all": len(booked), "total": sum(kg for _, _, kg, _ in booked)}
        numbers = {one for _, _, _, one in booked}
        facts["pairs"] = sum(
            euros
            for (first, second), euros in self.together.items()
            if second == int(number) and first in numbers
        )
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
        if refused or weight > left or not self.fits(int(found[0]), booked):
            return without
        own = self.price(weight, facts)
        price, less, chosen = self.best(
            rest, [*booked, (found[1], found[4], weight, int(found[0]))], left - weight
        )
        return max(without, (price + own, less - weight, (True, *chosen)))

    def fits(self, number, booked):
        """True if litres, crates and pairs leave room for a consignment."""
        if self.bounds is None:
            return True
        numbers = [one for _, _, _, one in booked]
        litres, crates = map(sum, zip(*(self.space[n] for n in (*numbers, number)), strict=True))
        apart = any((one, number) in self.apart for one in numbers)
        return litres <= self.bounds[1] and crates <= self.bounds[2] and not apart

    def dispatch(self, number, client, amount, unit, goods, value, origin, destination, ready):
        found = (number, client, amount, unit, goods, value, origin, destination, ready)
        grams, facts, article = self.judged(found, self.booked)
        weight = facts["weight"]
        refused = article is not None and "Refuse" in dict(self.articles)[article]
        if self.habit == "reject_all" or (refused and self.habit != "book_all"):
            return self.add("reject", consignment=int(number), article=article or "L1")
        chosen = int(number) in self.chosen
        if self.habit == "book_what_fits":
            load = sum(kg for _, _, kg, _ in self.booked)
            chosen = load + weight <= (self.limit or math.inf)
            chosen = chosen and self.fits(int(number), self.booked)
        if not chosen and self.habit not in ("book_all", "no_limit"):
            return self.add("postpone", consignment=int(number))
        price = ceil(self.price(weight, facts) * self.rates[facts["currency"]], 100)
        self.booked.append((client, goods, weight, int(number)))
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


@pytest.mark.parametrize("level", [7, 8])
def test_a_reader_of_the_prompt_makes_the_same_calls(level):
    assert all(earned(level, seed) == 1.0 for seed in range({7: 40, 8: 8}[level]))


SMALL = HoldLoad(consignments=12, articles=3, pairs=6, bookable=7)


def numbers(calls, *names):
    return {one["arguments"]["consignment"] for one in calls if one["name"] in names}


def in_any_order(calls):
    return sorted(json.dumps(one, sort_keys=True) for one in calls)


def test_all_ways_through_a_small_task_with_several_limits_show_the_same_best():
    for seed in range(6):
        ask = ask_held(Draws(np.random.default_rng(seed)), SMALL)
        expected = ask.reference["expected"]
        assert in_any_order(Reader(ask.prompt).work()) == in_any_order(expected)
        assert len(numbers(expected, "book", "postpone")) >= SMALL.bookable


@pytest.mark.parametrize("level", [9, 10])
def test_a_reader_who_knows_the_best_choice_makes_the_same_calls(level):
    for seed in range(3):
        task = verigym.make("tools/call-v0", difficulty=level).sample_task(seed)
        expected = task.reference["expected"]
        reader = Reader(task.prompt, chosen=numbers(expected, "book"))
        assert in_any_order(reader.work()) == in_any_order(expected)
        assert len(numbers(expected, "book", "postpone")) >= HELD[level].bookable
        assert all(
            reader.fits(n, [one for one in reader.booked if one[3] < n])
            for n in numbers(expected, "book")
        )


def brought(prompt, chosen):
    """The euros of a choice, if limits and pairs let it be; and what is booked of it."""
    reader, booked, euros = Reader(prompt), [], 0
    for found in LINE.findall(prompt):
        _, facts, article = reader.judged(found, booked)
        refused = article is not None and "Refuse" in dict(reader.articles)[article]
        if int(found[0]) not in chosen or refused:
            continue
        load = facts["total"] + facts["weight"]
        if load > reader.bounds[0] or not reader.fits(int(found[0]), booked):
            return -1
        euros += reader.price(facts["weight"], facts)
        booked.append((found[1], found[4], facts["weight"], int(found[0])))
    return euros


@pytest.mark.parametrize("level", [9, pytest.param(10, marks=pytest.mark.slow)])
def test_no_exchange_of_one_consignment_brings_as_much_as_the_best_choice(level):
    """Nor do all that fit in the order of their numbers, the dearest first or the best for a kilogram first."""
    task = verigym.make("tools/call-v0", difficulty=level).sample_task(5)
    expected = task.reference["expected"]
    best = numbers(expected, "book")
    most = brought(task.prompt, best)
    others = numbers(expected, "postpone")
    near = [best ^ {n} for n in best | others] + [best ^ {a, b} for a in best for b in others]
    reader = Reader(task.prompt)
    lines = {int(found[0]): found for found in LINE.findall(task.prompt)}
    facts = {n: reader.judged(found, [])[1] for n, found in lines.items()}
    alone = {n: reader.price(facts[n]["weight"], facts[n]) for n in best | others}
    for key in (int, lambda n: -alone[n], lambda n: -alone[n] / facts[n]["weight"]):
        plan = set()
        for n in sorted(alone, key=key):
            plan |= {n} if brought(task.prompt, plan | {n}) >= 0 else set()
        near.append(plan)
    assert max(brought(task.prompt, other) for other in near) < most


def test_the_search_finds_the_best_of_all_choices():
    """And how many choices bring as much."""
    draws = Draws(np.random.default_rng(3))
    for _ in range(12):
        freight = draw_freight(draws, 11, 4, limited=True, many=True)
        litres = tuple(draws.between(40, 400) for _ in range(11))
        crates = tuple(draws.between(1, 12) for _ in range(11))
        pairs = tuple(draw_pairs(draws, [50] * 11, 6))
        hold = Hold(litres, crates, sum(litres) // 2, sum(crates) // 2, pairs)
        search = Dispatcher(replace(freight, limit=250)).hold_search(hold)
        wanted = np.arange(1 << 11)[:, None] >> np.arange(11) & 1 == 1
        fees, booked = search.fees(wanted)
        best = {int(mask) for mask in booked[fees == fees.max()]}
        found = search.best(search.plan()[1])
        assert (found.fees, found.ways) == (fees.max(), len(best))
        assert sum(1 << place for place in found.places) in best


@pytest.mark.parametrize("level", [7, 8])
@pytest.mark.parametrize("habit", HABITS)
def test_shortcuts_are_not_paid(habit, level):
    assert sum(earned(level, seed, habit) for seed in range(20 if level == 7 else 6)) == 0


@pytest.mark.parametrize("level", [8, 9, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("habit", OF_LIMITS)
def test_who_spends_the_limit_simply_is_not_paid(habit, level):
    assert sum(earned(level, seed, habit) for seed in range(6)) == 0


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
    assert counts == [7, 10, 20, 30]
