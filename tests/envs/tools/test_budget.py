"""Choosing what a budget pays for: against all subsets, on offers that depend on what was taken before."""

from itertools import combinations

import numpy as np
import pytest

from verigym.envs.tools.cases.budget import LONGEST, BudgetWay, WaySearch, draw_budget, simple_plans
from verigym.envs.tools.draws import Draws


class Stall:
    """Offers that become dearer, bring more, or are withdrawn, by what was taken before."""

    def __init__(self, seed, count, moving=True):
        draws = Draws(np.random.default_rng(seed))
        self.base = [(draws.between(5, 60), draws.between(1, 20)) for _ in range(count)]
        self.closed = [draws.below(3) == 0 and moving for _ in range(count)]
        self.moving, self.taken = moving, []

    def offer(self, place):
        if self.closed[place] and len(self.taken) % 2:
            return None
        cost, fee = self.base[place]
        return (
            (cost + sum(self.taken) % 7, fee + 2 * len(self.taken)) if self.moving else (cost, fee)
        )

    def take(self, place):
        self.taken.append(place)
        return self.taken.pop

    def search(self):
        return WaySearch(self, len(self.base))

    def kind(self, place):
        return "even" if place % 2 == 0 else "odd"

    def more(self, before, kind):
        return 3 if self.moving and before != kind else 0

    def limits(self, place):
        cost, fee = self.base[place]
        return (cost, fee + 2 * place) if self.moving else (cost, fee)


def by_subsets(stall, budget):
    """The best plan of all subsets, worked through one by one."""
    count, found = len(stall.base), []
    for n in range(count + 1):
        for chosen in combinations(range(count), n):
            fees = cost = 0
            stall.taken = []
            for place in chosen:
                offered = stall.offer(place)
                if offered is None:
                    break
                cost, fees = cost + offered[0], fees + offered[1]
                stall.taken.append(place)
            else:
                if cost <= budget:
                    marks = tuple(place in chosen for place in range(count))
                    found.append((fees, -cost, marks))
    stall.taken = []
    return max(found)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_way_is_the_best_of_all_subsets(seed):
    stall = Stall(seed, 7)
    for budget in (0, 40, 90, 150):
        way = stall.search().best(budget)
        marks = tuple(way.has(place, 7) for place in range(7))
        assert (way.fees, way.less, marks) == by_subsets(stall, budget)
    assert stall.taken == []


def test_fees_decide_then_cost_then_the_first_case_that_differs():
    assert BudgetWay(9, -50, 0b001) > BudgetWay(8, -10, 0b100)
    assert BudgetWay(9, -40, 0b001) > BudgetWay(9, -50, 0b100)
    assert BudgetWay(9, -40, 0b100) > BudgetWay(9, -40, 0b011)


def test_a_search_that_is_too_long_gives_no_way():
    stall = Stall(1, 24)
    stall.base = [(20, 5)] * 24
    search = stall.search()
    assert search.best(250) is None
    assert LONGEST < search.operations < LONGEST + 100
    assert stall.taken == []


@pytest.mark.parametrize("seed", range(10))
def test_the_best_fixed_choice_is_right_if_offers_do_not_change(seed):
    stall = Stall(seed, 8, moving=False)
    offers = [stall.offer(place) for place in range(8)]
    assert stall.search().offers() == (offers, offers)
    for budget in (30, 120, 200):
        assert simple_plans(offers, budget)[0] == stall.search().best(budget).mask


def test_a_drawn_budget_is_hard_only_where_offers_depend_on_each_other():
    draws = Draws(np.random.default_rng(3))
    plain = [draw_budget(draws, Stall(seed, 8, moving=False).search()) for seed in range(20)]
    assert not any(one.is_hard for one in plain)
    moved = [(seed, draw_budget(draws, Stall(seed, 8).search())) for seed in range(20)]
    hard = [(seed, one) for seed, one in moved if one.is_hard]
    assert len(hard) > 10
    for seed, one in hard:
        right = by_subsets(Stall(seed, 8), one.budget)
        assert tuple(one.way.has(place, 8) for place in range(8)) == right[2]
        assert Stall(seed, 8).search().in_order(one.budget) != one.way.mask
