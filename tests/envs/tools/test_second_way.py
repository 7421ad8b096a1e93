"""Readers that know nothing but what a policy sees solve the tasks: the wording is enough, and says one thing.

Each reads the task's words, looks things up with the tools, and never touches the reference.
"""

import pytest

from tests.envs.tools.readers.api_docs import api_docs
from tests.envs.tools.readers.bank import bank
from tests.envs.tools.readers.desk import ACTS, clerk
from tests.envs.tools.readers.home import home
from tests.envs.tools.readers.office import office
from tests.envs.tools.readers.player import played, solved
from tests.envs.tools.readers.shop import FEES, ORDER_STATES, shop

DIFFICULTIES = ("easy", "medium", "hard")
SEEDS = 12

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
    reader = READERS[name]
    if level > 6 and name in ACTS:
        # Slow tests go up to 10: the reader tries all ways through a day.
        reader, level = clerk(name), 8
    for seed in range(2):
        solved(name, reader, level, seed)


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
