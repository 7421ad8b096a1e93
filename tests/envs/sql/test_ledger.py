"""The book of a store in `sql/tables`: cleaned, priced and ranked again by SQLite, from the words of the prompt."""

import math
import re
import sqlite3
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest

import verigym
from verigym.envs.sql.ledger import (
    SIZES,
    Movement,
    StoreBook,
    averaged,
    best_of_groups,
    in_order,
    play,
    ranked_sum,
)
from verigym.envs.sql.read_ledger import LedgerReader

ID = "sql/tables-v0"
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
FIGURES = {
    "units left at the end": "held",
    "units missing": "missing",
    "units turned away": "turned",
    "units handed out": "handed",
    "highest stock": "peak",
    "worth of the units handed out": "worth",
    "longest run": "run",
}


def month_and_day(text):
    if re.fullmatch(r"\d\d-\d\d", text):
        return text
    day, month = text.split()
    return f"{MONTHS.index(month) + 1:02}-{int(day):02}"


def read(prompt):
    """The tables in a database."""
    db = sqlite3.connect(":memory:")
    db.create_function("md", 1, month_and_day)
    for part in prompt.split("\n\n"):
        head, *lines = part.splitlines()
        if match := re.fullmatch(r"Table `(\w+)`:", head):
            names, *rows = (line.split(",") for line in lines)
            columns = ", ".join(f'"{name}" NUMERIC' for name in names)
            db.execute(f"CREATE TABLE {match[1]} (at INTEGER PRIMARY KEY, {columns})")
            for row in rows:
                db.execute(f"INSERT INTO {match[1]} VALUES (NULL, {','.join('?' * len(row))})", row)
    empty = {
        "corrections": "no, quantity",
        "prices": 'item, "from", price',
        "recipes": "kit, part, units",
    }
    for name, columns in empty.items():
        db.execute(f"CREATE TABLE IF NOT EXISTS {name} (at, {columns})")
    return db


CLEAN = """
WITH counting AS (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY no ORDER BY at {kept}) AS place FROM movements WHERE type <> 'void'
), said AS (
  SELECT no, md(day) AS day, UPPER(REPLACE(item, '-', '')) AS item, type, CAST(COALESCE((SELECT k.quantity
    FROM corrections k WHERE k.no = c.no ORDER BY k.at DESC LIMIT 1), quantity) AS TEXT) AS q
  FROM counting c WHERE place = 1
)
SELECT s.no, s.item, type, IIF(q LIKE '%w', NULL, IIF(q LIKE '%c', RTRIM(q, 'c') * {crate}, CAST(q AS INT))),
  IIF(q LIKE '%w', CAST(RTRIM(q, 'w') AS INT), NULL), IIF(q LIKE 'r%', CAST(LTRIM(q, 'r') AS INT), NULL), COALESCE(
  (SELECT price FROM prices p WHERE p.item = s.item AND md("from") <= s.day ORDER BY md("from") DESC LIMIT 1),
  (SELECT price FROM prices p WHERE p.item = s.item AND {early} ORDER BY md("from") LIMIT 1), 0)
FROM said s JOIN items i ON i.item = s.item ORDER BY s.day, {same_day}s.no
"""


def cleaned(db, prompt):
    """The movements that count, in order, with their prices."""
    first = re.search(r"all of type (in|out) come first", prompt)
    last = {"in": "out", "out": "in"}.get(first and first[1])
    return db.execute(
        CLEAN.format(
            kept="DESC" if "only the last of them" in prompt else "ASC",
            crate="i.crate" if "item,group,crate" in prompt else "1",
            early="worth its first price" in prompt,
            same_day=f"type <> '{first[1]}', type = '{last}', " if first else "",
        )
    ).fetchall()


def put_together(items, recipe, kit, wanted):
    """Kits one by one, as long as there are parts."""
    done = 0
    cost = sum(n * items[part]["cost"] for part, n in recipe)
    while done < wanted and all(items[part]["held"] >= n for part, n in recipe):
        for part, n in recipe:
            items[part]["held"] -= n
        done += 1
    take_in(items[kit], done, cost)
    items[kit]["missing"] += wanted - done


def take_in(one, taken, price):
    if taken:
        value = Fraction(one["held"] * one["cost"] + taken * price, one["held"] + taken)
        one["cost"] = math.floor(value + Fraction(1, 2))
    one["held"] += taken


def played(db, rows, prompt):
    """The figures of each item."""
    capacity = int(re.search(r"at most (\d+) units of all", prompt)[1])
    enough = int((re.search(r"at least (\d+) units of it", prompt) or [0, 0])[1])
    items = defaultdict(lambda: dict.fromkeys(FIGURES.values(), 0) | {"since": 0, "cost": 0})
    averaged = "its average cost becomes" in prompt
    recipes = defaultdict(list)
    for kit, part, n in db.execute("SELECT kit, part, units FROM recipes"):
        recipes[kit].append((part, n))
    took = {}
    for no, item, way, quantity, value, back, price in rows:
        one = items[item]
        if back is not None:
            quantity, price = took.get(back, (0, 0))
        if value is not None:
            quantity = 0
            while one["cost"] and one["cost"] * (quantity + 1) <= value:
                quantity += 1
        if way == "in":
            taken = min(quantity, capacity - sum(other["held"] for other in items.values()))
            take_in(one, taken, price)
            one["turned"] += quantity - taken
        elif way == "make":
            put_together(items, recipes[item], item, quantity)
        else:
            handed = min(quantity, one["held"])
            one["held"] -= handed
            one["handed"] += handed
            one["missing"] += quantity - handed
            one["worth"] += handed * (one["cost"] if averaged else price)
            took[no] = handed, one["cost"]
        one["since"] = one["since"] + 1 if one["held"] >= enough else 0
        one["run"] = max(one["run"], one["since"])
        one["peak"] = max(one["peak"], one["held"])
    return items


def answered(prompt):
    db = read(prompt)
    items = played(db, cleaned(db, prompt), prompt)
    columns = ", ".join(FIGURES.values())
    db.execute(f"CREATE TABLE figures (item, {columns})")
    for (item,) in db.execute("SELECT item FROM items").fetchall():
        values = [items[item][name] for name in FIGURES.values()]
        db.execute(
            f"INSERT INTO figures VALUES (?, {','.join('?' * len(values))})", [item, *values]
        )
    wide = "items JOIN figures USING (item)"
    if match := re.search(r"total of the ([\w ]+) over all items of the group (\w+)\?", prompt):
        sql = f"SELECT SUM({FIGURES[match[1]]}) FROM {wide} WHERE \"group\" = '{match[2]}'"
    elif match := re.search(
        r"compare its items by their ([\w ]+), .*total of the ([\w ]+) over", prompt
    ):
        sql = (
            f'SELECT SUM(v) FROM (SELECT {FIGURES[match[2]]} AS v, ROW_NUMBER() OVER (PARTITION BY "group" '
            f"ORDER BY {FIGURES[match[1]]} DESC, at) AS place FROM {wide}) WHERE place = 1"
        )
    else:
        match = re.search(
            r"rank the items by their ([\w ]+), .*its rank by the ([\w ]+)\. W", prompt
        )
        rank = "DENSE_RANK" if "(1, 2, 2, 3)" in prompt else "RANK"
        sql = (
            f'SELECT SUM(place * v) FROM (SELECT {FIGURES[match[2]]} AS v, {rank}() OVER (PARTITION BY "group" '
            f"ORDER BY {FIGURES[match[1]]} DESC) AS place FROM {wide})"
        )
    return db.execute(sql).fetchone()[0]


@pytest.mark.parametrize("level", SIZES)
def test_sqlite_and_the_reader_find_the_same(level):
    env = verigym.make(ID)
    for seed in range(25):
        task = env.sample_task(seed, str(level))
        reader = LedgerReader(task.prompt)
        answer = int(task.reference["answer"])
        assert (reader.answer(), answered(task.prompt)) == (answer, answer), seed
        assert len(task.prompt) < (13_000 if level == 10 else 9000)


@pytest.mark.slow
def test_a_rule_overlooked_gives_another_answer():
    """Each rule decides most answers: a reader that misses one of them is rarely right."""
    env = verigym.make(ID)
    misread = {
        "void": lambda said: said.replace(",void,", ",out,"),
        "kept": lambda said: said.replace("only the last of", "only the FIRST of")
        .replace("only the first of", "only the last of")
        .replace("only the FIRST of", "only the first of"),
        "corrections": lambda said: re.sub(r"(Table `corrections`:\nno,quantity\n)(.+\n)+", r"\1", said),
        "order": lambda said: re.sub(r"; on the same day, all of type \w+ come first(, then all of type \w+)+", "", said),
        "limit": lambda said: re.sub(r"at most \d+ units", "at most 99999 units", said),
        "value": lambda said: re.sub(r"\d+w\b", "100", said),
        "returns": lambda said: re.sub(r",r\d+\b", ",0", said),
        "kits": lambda said: re.sub(r",make,\w+", ",make,0", said),
        "parts": lambda said: re.sub(r"(?m)^(\w\d,\w\d),[23]$", r"\1,1", said),
    }  # fmt: skip
    for name, change in misread.items():
        same = tried = 0
        for seed in range(40):
            task = env.sample_task(seed, "10")
            prompt = change(task.prompt)
            if prompt != task.prompt:
                tried += 1
                same += answered(prompt) == int(task.reference["answer"])
        assert tried > 15, name
        assert same <= tried // 10, (name, same, tried)


def test_orders_by_value_lead_back_into_the_stock():
    """An amount pays for more units the less they cost, so an error in a cost goes on to all that follows."""
    moved = [
        Movement(1, 1, 0, "out", 0, value=900),  # nothing has cost anything yet
        Movement(2, 2, 0, "in", 4),
        Movement(3, 3, 0, "in", 3),  # (4 x 100 + 3 x 131) / 7 = 113.3
        Movement(4, 4, 0, "out", 0, value=338),  # two, and 112 left over
        Movement(5, 5, 0, "out", 0, value=5000),  # 44 are wanted, 5 are there
    ]
    ledger = StoreBook(
        items=["A1"], groups=["dry"], crates=[3], prices=[[(1, 100), (3, 131)]],
        capacity=10, enough=4, averaged=True, moved=moved,
    )  # fmt: skip
    found = play(ledger)
    assert (found["handed"], found["missing"], found["left"]) == ([7], [39], [0])
    assert found["worth"] == [7 * 113]


def test_what_was_handed_out_comes_back_at_its_cost():
    moved = [
        Movement(1, 1, 0, "in", 4),
        Movement(2, 2, 0, "out", 6),  # 4 at 100
        Movement(3, 3, 0, "in", 2),  # at 130
        Movement(4, 4, 0, "in", 0, back=2),  # 3 of the 4 fit: (2 x 130 + 3 x 100) / 5 = 112
        Movement(5, 5, 0, "in", 0, back=6),  # has not happened yet
        Movement(6, 6, 0, "out", 1),
    ]
    ledger = StoreBook(
        items=["A1"], groups=["dry"], crates=[3], prices=[[(1, 100), (3, 130)]],
        capacity=5, enough=4, averaged=True, moved=moved,
    )  # fmt: skip
    found = play(ledger)
    assert (found["turned"], found["left"], found["worth"]) == ([1], [4], [4 * 100 + 112])


def test_kits_take_their_parts_and_cost_what_these_cost():
    moved = [
        Movement(1, 1, 0, "in", 5),
        Movement(2, 1, 1, "in", 4),
        Movement(3, 2, 2, "make", 3),  # two, for want of the first part: 2 x 10 + 1 x 7 each
        Movement(4, 3, 2, "out", 1),
    ]
    ledger = StoreBook(
        items=["A1", "B2", "K3"], groups=["dry"] * 3, crates=[3] * 3, prices=[[(1, 10)], [(1, 7)], []],
        capacity=9, enough=2, averaged=True, moved=moved, recipes={2: [(0, 2), (1, 1)]},
    )  # fmt: skip
    found = play(ledger)
    assert (found["left"], found["missing"], found["handed"]) == ([1, 2, 1], [0, 0, 1], [0, 0, 1])
    assert found["worth"] == [0, 0, 27]
    assert [one.way for one in in_order(moved[::-1], "out")] == ["in", "in", "make", "out"]
    same_day = [replace(one, day=1) for one in moved]
    assert [one.no for one in in_order(same_day, "out")] == [4, 3, 1, 2]


def test_the_highest_level_works_with_large_numbers():
    """Costs of five or six digits, and orders of which a share depend on them."""
    env = verigym.make(ID)
    for seed in range(5):
        prompt = env.sample_task(seed, "10").prompt
        assert len(re.findall(r",out,\d{6,}w\n", prompt)) > 12
        assert len(re.findall(r",in,r\d+\n", prompt)) > 12
        assert len(re.findall(r",make,\d", prompt)) > 12
        assert all(
            20_000 < int(price) < 300_000
            for price in re.findall(r"\w\d,[\w -]+,(\d{5,})\n", prompt)
        )
    assert "recipes" not in env.sample_task(1, "9").prompt
    assert "w\n" not in env.sample_task(1, "8").prompt


def test_a_small_book_by_hand():
    moved = [
        Movement(1, 10, 0, "in", 8),
        Movement(2, 10, 1, "in", 5),  # 2 fit, 3 are turned away
        Movement(3, 12, 0, "out", 3),
        Movement(4, 12, 1, "out", 6),  # 2 are there, 4 are missing
        Movement(5, 15, 1, "in", 4),
    ]
    ledger = StoreBook(
        items=["A1", "B2"],
        groups=["dry", "dry"],
        crates=[3, 3],
        prices=[[(12, 7)], [(13, 5)]],
        capacity=10,
        enough=4,
        averaged=False,
        moved=in_order(moved, "no"),
    )
    found = play(ledger, "nothing")
    assert (found["left"], found["turned"], found["missing"]) == ([5, 4], [0, 3], [0, 4])
    assert (found["handed"], found["peak"], found["run"]) == ([3, 2], [8, 4], [2, 1])
    assert (found["worth"], play(ledger, "first")["worth"]) == ([21, 0], [21, 10])
    at_cost = replace(ledger, averaged=True, prices=[[(9, 7)], [(9, 4), (13, 5)]])
    assert play(at_cost, "nothing")["worth"] == [21, 8]
    assert best_of_groups(ledger, found["peak"], found["handed"]) == 3
    assert ranked_sum(ledger, found["peak"], found["left"], "dense") == 1 * 5 + 2 * 4
    assert [one.no for one in in_order(moved, "out")] == [1, 2, 3, 4, 5]


def test_ranks_with_ties():
    ledger = StoreBook(
        items=["A1", "B2", "C3", "D4"],
        groups=["dry"] * 4,
        crates=[3] * 4,
        prices=[[(0, 1)]] * 4,
        capacity=10,
        enough=4,
        averaged=False,
        moved=[],
    )
    assert ranked_sum(ledger, [9, 5, 5, 1], [1, 10, 100, 1000], "dense") == 1 + 20 + 200 + 3000
    assert ranked_sum(ledger, [9, 5, 5, 1], [1, 10, 100, 1000], "gaps") == 1 + 20 + 200 + 4000


def test_average_costs_are_rounded_half_up():
    assert averaged(0, 0, 7, 301) == 301
    assert averaged(3, 100, 1, 102) == 101  # 100.5
    assert averaged(3, 100, 1, 101) == 100
    assert averaged(5, 77, 0, 900) == 77
