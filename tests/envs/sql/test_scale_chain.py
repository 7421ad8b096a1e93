"""`sql/scale` with a limit on the rows read: answers found again by numpy, what is read, and what a table is said to leave out."""

import re
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest

import verigym
from tests.envs.sql.big_in_numpy import Columns, number_of
from verigym.envs.sql.big import FIRST_DAY, Big, Extent
from verigym.envs.sql.scale_chain import QuestionChain, ReadingPlan
from verigym.envs.sql.warehouse import LATE, QUARTERS, SUMMARIES, Warehouse, draw_warehouse

ID = "sql/scale-v0"


def day_of(number):
    return date.fromisoformat(FIRST_DAY) + timedelta(int(number))


def first_of(months):
    """The number of the first day of a month, counted from January 2019."""
    return number_of(f"{2019 + months // 12}-{months % 12 + 1:02}-01") if months < 72 else 2192


class Held:
    """The events that count, as arrays made by numpy alone, and those that are void, amended and late."""

    def __init__(self, warehouse):
        c, d = Columns(warehouse.extent), warehouse.extent.names
        self.c, self.before = c, c.amount.copy()
        self.id = np.arange(1, len(c.amount) + 1, dtype=np.int64)
        seed, span = warehouse.extent.seed, d.amounts[1] - d.amounts[0]
        self.void = np.zeros(len(self.id), bool)
        self.amended = self.void.copy()
        self.now = c.amount.copy()
        if warehouse.has_void:
            self.void = (self.id * 48271 + seed % 97) % 97 == 0
            self.amended = (self.id * 48271 + seed // 89) % 89 == 0
            moved = d.amounts[0] + (c.amount - d.amounts[0] + 1 + self.id % (span - 1)) % span
            self.now = np.where(self.amended, moved, c.amount)
        self.late = self.id > len(self.id) - LATE


def answered(prompt, warehouse):
    """The answer, from the words of the prompt and the whole table."""
    held = Held(warehouse)
    c, amount, counts = held.c, held.now, ~held.void
    steps = re.findall(r"^\d\. (.*)$", prompt, re.MULTILINE)
    region, year = re.search(r"'(\w+)' .* in (\d{4});", steps[0]).groups()
    within = (c.day >= number_of(f"{year}-01-01")) & (c.day <= number_of(f"{year}-12-31")) & counts
    totals = np.bincount(c.owner[c.thing[within]], amount[within], len(c.region))
    a = np.argmax(np.where(c.region == region, totals, -1))
    of_a = (c.owner[c.thing] == a) & counts
    since, bound = re.search(r"from (\S+) on\. .* above (\d+)\.", steps[1]).groups()
    after = of_a & (c.day >= number_of(since))
    d = int(np.argmax(np.cumsum(np.bincount(c.day[after], amount[after], 2192)) > int(bound)))
    start = (day_of(d).year - 2019) * 12 + (day_of(d).month - 1) // 3 * 3
    quarter = (c.day >= first_of(start)) & (c.day < first_of(start + 3))
    if match := re.search(r"of at least (\d+) did", steps[2]):
        return np.count_nonzero(of_a & quarter & (amount >= int(match[1])) & (c.day >= d))
    t = np.argmax(np.bincount(c.thing[of_a & quarter], amount[of_a & quarter]))
    rows = np.flatnonzero((c.thing == t) & counts)
    rows = rows[np.lexsort((held.id[rows], c.day[rows]))]
    products = int((amount[rows] * np.arange(1, len(rows) + 1)).sum())
    if len(steps) == 4:
        return products
    e = c.day[rows[1 + np.argmax(np.diff(c.day[rows]))]]
    kind = re.search(r"'(\w+)'", steps[4])[1]
    start = (day_of(e).year - 2019) * 12 + day_of(e).month - 1
    month = (c.day >= first_of(start)) & (c.day < first_of(start + 1))
    total = int(amount[month & counts & (c.kind == kind)[c.thing]].sum())
    return int(amount[of_a & quarter].sum()) + products + total


@pytest.mark.parametrize(
    ("level", "n"), [(8, 2), (9, 2), (10, 3), pytest.param(10, 12, marks=pytest.mark.slow)]
)
def test_numpy_finds_the_same_from_the_whole_table(level, n):
    env = verigym.make(ID)
    for seed in range(n):
        task = env.sample_task(seed, level)
        warehouse = Warehouse.read(task.reference["warehouse"])
        assert str(answered(task.prompt, warehouse)) == task.reference["answer"], seed


@pytest.mark.parametrize("level", [8, 9, 10])
def test_the_plan_answers_within_the_limit_and_the_whole_table_is_beyond_it(level):
    env = verigym.make(ID, difficulty=level)
    for seed in range(2):
        env.reset(seed=seed)
        event = Warehouse.read(env.task.reference["warehouse"]).extent.names.event
        shown, *_ = env.step(f"<query>SELECT COUNT(*) FROM {event}</query>")
        assert "it would read 1000000 rows" in shown
        assert env.state.rows_read == 0
        over = False
        while not over:
            action = env.oracle()
            left = env.task.reference["most_read"] - env.state.rows_read
            shown, reward, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
            assert over or f"Rows left to read: {left - env._rows_read(action)}." in shown
        assert reward == 1.0


@pytest.mark.slow
def test_who_misses_a_note_is_wrong():
    """Late events left out, void ones counted, amounts from before they were amended, a part that is unlike the first:
    each decides many answers."""
    env = verigym.make(ID)
    wrong = dict.fromkeys(("late", "void", "amended", "part"), 0)
    n = 8
    for seed in range(n):
        reference = env.sample_task(seed, 10).reference
        warehouse = Warehouse.read(reference["warehouse"])
        big = Big(warehouse)
        for missed in wrong:
            misread = replace(warehouse, overlooked=missed)
            plan = ReadingPlan(
                QuestionChain(**reference["chain"]),
                misread,
                lambda query, big=big: big.run(query)[1],
            )
            wrong[missed] += str(plan.answer()) != reference["answer"]
        big.close()
    assert wrong["void"] == n, wrong
    assert min(wrong.values()) >= n // 2, wrong


@pytest.fixture(scope="module")
def env():
    made = verigym.make(ID, max_turns=1000, difficulty=10)
    made.reset(seed=3)
    return made


def left_after(env, query):
    before = env.state.rows_read
    shown = env.step(f"<query>{query}</query>")[0]
    return shown, env.state.rows_read - before


def test_each_table_that_is_named_is_read_each_time(env):
    start = env.snapshot()
    warehouse = Warehouse.read(env.task.reference["warehouse"])
    d = warehouse.extent.names
    for query, rows in (
        (f"SELECT COUNT(*) FROM {d.owner}", 200),
        (f"SELECT COUNT(*) FROM {d.owner} a, {d.owner} b", 400),
        (f"SELECT COUNT(*) FROM {d.owner} WHERE id IN (SELECT id FROM {d.owner.upper()} LIMIT 1)", 400),
        (f"WITH x AS (SELECT id FROM {d.owner}) SELECT COUNT(*) FROM x a JOIN x b ON a.id = b.id", 200),
        (f"SELECT id FROM {d.owner} UNION ALL SELECT id FROM {warehouse.late}", 20_200),
        (f'SELECT COUNT(*) FROM "{d.owner}" WHERE (SELECT MAX(id) FROM {d.owner} z) > 1', 400),
        ("SELECT 1", 0),
    ):  # fmt: skip
        assert left_after(env, query)[1] == rows, query
    env.restore(start)


def test_what_fails_is_read_or_not_as_the_prompt_says(env):
    start = env.snapshot()
    warehouse = Warehouse.read(env.task.reference["warehouse"])
    d = warehouse.extent.names
    for query, why, rows in (
        (f"SELECT nothing FROM {d.owner}", "nothing", 0),
        (f"SELECT COUNT(* FROM {d.owner}", "parse", 0),
        ("SELECT * FROM base", "no table", 0),
        ("SELECT i FROM base, (WITH base AS (SELECT 1 AS a) SELECT a FROM base) z", "choose a name", 0),
        (f"WITH {d.owner} AS (SELECT 1 AS id) SELECT id FROM {d.owner}", "choose a name", 0),
        ("SELECT sql FROM sqlite_master, (WITH sqlite_master AS (SELECT 1 AS a) SELECT a FROM sqlite_master) z", "no table", 0),
        # An error may tell what a row holds, so its rows count.
        (f"SELECT CAST(name AS INT) FROM {d.owner}", "failed", 200),
        (f"SELECT id FROM {d.thing}", "more than 2000 rows", 20_000),
    ):  # fmt: skip
        shown, read = left_after(env, query)
        assert why in shown, query
        assert read == rows, query
    assert env.state_key() != start.state
    env.restore(start)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_tables_hold_what_their_notes_say(seed):
    """Every part and summary counted again by numpy, by what its description says of it."""
    env = verigym.make(ID, difficulty=10)
    env.reset(seed=seed)
    warehouse = Warehouse.read(env.task.reference["warehouse"])
    held, d = Held(warehouse), warehouse.extent.names
    c = held.c
    listed = dict(re.findall(r"^(\w+) \((\d+) rows\)$", env.tables(), re.MULTILINE))
    big = Big(warehouse)
    for table, family in warehouse.families.items():
        said = env.describe(table)
        if family in ("late", "void"):
            expected = getattr(held, family)
            assert int(listed[table]) == np.count_nonzero(expected)
            total = big.run(f"SELECT SUM({d.amount}) FROM {table}")[1][0][0]
            assert total == held.now[expected].sum()
            continue
        if family == "amended":
            rows = big.run(f"SELECT COUNT(*), SUM(before), SUM(now) FROM {table}")[1][0]
            sums = held.before[held.amended].sum(), held.now[held.amended].sum()
            assert rows == (int(listed[table]), *sums)
            assert np.all(held.before[held.amended] != held.now[held.amended])
            continue
        mask = np.ones(len(held.id), bool)
        if match := re.search(r"_(\d{4})_q(\d)$", table):
            start = (int(match[1]) - 2019) * 12 + 3 * int(match[2]) - 3
            mask = (c.day >= first_of(start)) & (c.day < first_of(start + 3))
        elif match := re.search(r"_of_(\d\d)$", table):
            mask = (c.thing // 1000) == int(match[1]) - 1
        if "leaves all of them out" in said:
            mask &= ~held.late
        if f"Void {d.event_words} are left out" in said:
            mask &= ~held.void
        amount = held.before if "Made before the amendments" in said else held.now
        what, n = ("total", "SUM(n)") if family in SUMMARIES else (d.amount, "COUNT(*)")
        found = big.run(f"SELECT {n}, SUM({what}) FROM {table}")[1][0]
        assert found == (np.count_nonzero(mask), amount[mask].sum()), table
        assert family in SUMMARIES or int(listed[table]) == found[0]
    big.close()


def test_tables_differ_in_what_they_leave_out():
    """No table is the one to trust in every task, and parts are not all alike in any."""
    extents = [Extent(0, 1_000_000, seed) for seed in range(20)]
    held = [draw_warehouse(np.random.default_rng(one.seed), one, 10) for one in extents]
    for family in SUMMARIES:
        for check in (Warehouse.lacks_late, Warehouse.counts_void, Warehouse.is_before_amended):
            assert {check(one, one.summary(family)) for one in held} == {True, False}
    for one in held:
        quarters = [one.quarter(year, number) for year, number in QUARTERS]
        ranges = [one.thing_range(number) for number in range(1, 21)]
        for parts in (quarters, ranges):
            assert {one.lacks_late(part) for part in parts} == {True, False}
            assert {one.is_before_amended(part) for part in parts} == {True, False}
