"""Tables of an old system with notes on them: each rule decides, and the rows that count are found again in Python."""

import re
import sqlite3
from collections import Counter

import numpy as np
import pytest

import verigym
from verigym.envs.sql import questions, repair
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.notes import RULES
from verigym.envs.sql.read_notes import query_from
from verigym.envs.sql.records import BY_LEVEL, draw_records
from verigym.envs.sql.records_rows import asked, compared, draw_told_apart
from verigym.envs.sql.slips import slips_for
from verigym.envs.sql.write_query import question_in

LEVELS = tuple(BY_LEVEL)
TOP_IS_SLOW = [*LEVELS[:-1], pytest.param(LEVELS[-1], marks=pytest.mark.slow)]


def drawn(seed, level):
    rng = np.random.Generator(np.random.PCG64(seed))
    return draw_told_apart(rng, DOMAINS[seed % len(DOMAINS)], level, lambda _: True)


def loaded(one):
    db = sqlite3.connect(":memory:")
    db.execute("PRAGMA foreign_keys = ON")
    db.executescript(one.records.ddl())
    schema = one.records.schema()
    for table in schema["tables"]:  # parents first, or keys are refused
        rows = one.rows[table]
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
    return db


def counting(one):
    """The owners, things and events that count, from the words of the notes."""
    d, notes = one.records.domain, one.records.notes()
    rows = {
        table: [dict(zip([name for name, _ in columns], row, strict=True)) for row in one.rows[table]]
        for table, columns in one.records.tables().items()
    }  # fmt: skip
    labels = {(row["list"], row["code"]): row["label"] for row in rows["codes"]}
    closed = "" if "whatever the day" in notes else "2023-01-01"
    kept = {
        row["id"]: row
        for row in rows[d.owner_words]
        if (row["closed_on"] is None or (closed and row["closed_on"] >= closed))
        and (row["is_test"] == 0 if "Only rows of" in notes else row["is_test"] != 1)
    }
    owners = {
        row["id"]: (row["id"], row["name"], labels.get((d.region, row[f"{d.region}_code"])))
        for row in kept.values()
        if row.get("merged_into") is None
    }
    by_id = {row["id"]: row for row in rows[d.owner_words]}

    def home(owner):
        """The owner that it counts for in the end; None if there is none."""
        way = [owner]
        while way[-1] in by_id and by_id[way[-1]].get("merged_into") is not None:
            way.append(by_id[way[-1]]["merged_into"])
            if way[-1] in way[:-1]:
                return None
        if "rule out any of these rows" in notes and any(one not in kept for one in way):
            return None
        return way[-1] if way[-1] in owners else None

    things = {}
    for row in rows[d.thing_words]:
        deleted = row["deleted"] >= 1 if "deleted is 1 or above" in notes else row["deleted"] == 1
        label, price = labels.get((d.kind, row[f"{d.kind}_code"])), row[d.price]
        if f"{d.thing}_rates" in rows:
            last = "2023-07-01" if "up to and including" in notes else "2023-07-02"
            valid = [
                (rate["id"], rate[d.price])
                for rate in rows[f"{d.thing}_rates"]
                if rate[f"{d.thing}_id"] == row["id"]
                and rate["valid_from"] <= "2023-07-01"
                and (rate["valid_to"] is None or rate["valid_to"] >= last)
            ]
            price = max(valid)[1] if valid else None
        owner = home(row[f"{d.owner}_id"])
        if owner is not None and not deleted and label and price is not None:
            things[row["id"]] = (row["id"], owner, label, price)
    events = set()
    factors = {row["unit"]: row["factor"] for row in rows.get("units", [])}
    reversals = {}
    for row in sorted(rows[d.event_words], key=lambda row: row["id"]):
        if (target := row.get("reverses_id")) is not None and target < row["id"]:
            reversals.setdefault(target, row["id"])

    def stands(event):
        if event not in reversals:
            return True
        return "then it counts again" in notes and not stands(reversals[event])

    for row in rows[d.event_words]:
        if row.get("reverses_id") is not None or not stands(row["id"]):
            continue
        amount, day = row[d.amount], row[d.day]
        if "state" in row:
            if not (row["state"] == "F" if "(final)" in notes else row["state"] != "X"):
                continue
            if "is its corrected_on" in notes:
                day = row["corrected_on"] or day
        if "source_key" in row:
            same = [e["id"] for e in rows[d.event_words] if e["source_key"] == row["source_key"]]
            if row["id"] != (min if "the lowest id counts" in notes.splitlines()[-1] else max)(
                same
            ):
                continue
        changes = [c for c in rows.get(f"{d.event}_changes", []) if c[f"{d.event}_id"] == row["id"]]
        if changes:
            by_id = "whatever its made_on" in notes
            sign = -1 if "on that day, the one with the lowest id); its" in notes else 1
            amount = max(changes, key=lambda c: (by_id or c["made_on"], sign * c["id"]))[d.amount]
        if "unit" in row:
            if row["unit"] not in factors:
                continue
            amount *= factors[row["unit"]] * (
                10 if "is_bulk = 1" in notes and row["is_bulk"] else 1
            )
        if row[f"{d.thing}_id"] in things:
            events.add((row["id"], row[f"{d.thing}_id"], amount, day))
    return {d.owner: {*owners.values()}, d.thing: {*things.values()}, d.event: events}


@pytest.mark.parametrize("level", TOP_IS_SLOW)
def test_the_views_are_the_rows_that_count(level):
    for seed in range(8):
        one = drawn(seed, level)
        db = loaded(one)
        for table, right in counting(one).items():
            sql = f"{one.records.views()} SELECT * FROM {table}"
            found = db.execute(sql).fetchall()
            assert len(found) == len(set(found)) > 3
            assert set(found) == right, (seed, table)
        db.close()


@pytest.mark.parametrize("name", ["questions", "repair"])
@pytest.mark.parametrize("level", LEVELS)
def test_the_words_alone_say_which_query_is_asked_for(name, level):
    env = verigym.make(f"sql/{name}-v0")
    for seed in range(4):
        task = env.sample_task(seed, str(level))
        template = {"questions": questions, "repair": repair}[name]._PROMPT
        question = question_in(task.prompt, template)
        query, operations = query_from(task.prompt, question, task.tags[0])
        assert query == task.reference["query"]
        assert operations > 100 * level


@pytest.mark.parametrize("level", TOP_IS_SLOW)
def test_who_misses_one_rule_earns_nothing(level):
    verifier = verigym.make("sql/questions-v0").verifier
    one = drawn(level, level)
    reference = {"query": asked(one.records, one.report), "schema": one.records.schema(), "rows": one.rows, "dialect": "sqlite"}  # fmt: skip
    task = verigym.Task(id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference)  # fmt: skip
    assert verifier.verify(task, asked(one.records, one.report)).score == 1.0
    twins = [*one.records.twins()]
    assert len(twins) == sum(len(RULES[name]) - 1 for name in BY_LEVEL[level])
    for twin in twins:
        assert verifier.verify(task, asked(twin, one.report)).score == 0.0, twin.picks


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_the_query_of_a_twin_earns_nothing(level):
    verifier = verigym.make("sql/questions-v0").verifier
    for seed in range(2):
        one = drawn(seed, level)
        reference = {"query": asked(one.records, one.report), "schema": one.records.schema(), "rows": one.rows, "dialect": "sqlite"}  # fmt: skip
        task = verigym.Task(id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference)  # fmt: skip
        for twin in one.report.twins():
            assert verifier.verify(task, asked(one.records, twin)).score == 0.0, twin.question


@pytest.mark.parametrize("level", TOP_IS_SLOW)
def test_several_faults_are_to_be_mended(level):
    env = verigym.make("sql/repair-v0")
    task = env.sample_task(level, str(level))
    broken = re.search(r"```sql\n.*?\n```", task.prompt, re.DOTALL)[0]
    assert re.search("several (other )?parts of it are wrong", task.prompt)
    assert (
        len(re.findall(r"(?:SELECT o\.\w+|, )(?=NULL(?:,| FROM))", broken)) == repair.MISSING[level]
    )
    assert env.verifier.verify(task, broken).score == 0.0
    assert env.verifier.verify(task, f"```sql\n{task.reference['query']}\n```").score == 1.0


@pytest.mark.slow
def test_who_leaves_one_slip_in_earns_nothing():
    """Each slip that a task may have is one that the judge sees on its own."""
    env = verigym.make("sql/repair-v0")
    met = set()
    for seed in range(3):
        one = drawn(seed, 10)
        right = asked(one.records, one.report)
        reference = {"query": right, "schema": one.records.schema(), "rows": one.rows, "dialect": "sqlite"}  # fmt: skip
        task = verigym.Task(id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference)  # fmt: skip
        with compared(one.records, one.rows, right) as differs:
            for slip in slips_for(one.records.domain):
                made = slip.made(right)
                if made != right and differs(made):
                    met.add(slip.name)
                    assert env.verifier.verify(task, made).score == 0.0, slip
    assert len(met) > 10


@pytest.mark.parametrize("level", LEVELS)
def test_as_many_slips_are_made_as_the_level_has(level):
    env = verigym.make("sql/repair-v0")
    for seed in range(4):
        task = env.sample_task(seed, str(level))
        broken = re.search(r"```sql\n(.*?)\n```", task.prompt, re.DOTALL)[1]
        ways = Counter(re.findall(r"\w+|\S", broken))
        ways.subtract(re.findall(r"\w+|\S", task.reference["query"]))
        assert sum(map(abs, ways.values())) >= sum(repair.FAULTS[level])


@pytest.mark.parametrize("level", [7, 8, 9, pytest.param(10, marks=pytest.mark.slow)])
def test_no_environment_gives_the_question_of_another_away(level):
    """Questions, repairs and explorations of one seed were about the same query."""
    for seed in range(3):
        asked_for = [
            verigym.make(f"sql/{name}-v0").sample_task(seed, str(level)).reference["query"]
            for name in ("questions", "repair", "explore")
        ]
        assert len(set(asked_for)) == 3


def test_every_rule_has_another_reading():
    for level, rules in BY_LEVEL.items():
        records = draw_records(np.random.Generator(np.random.PCG64(1)), DOMAINS[0], level)
        assert set(records.picks) == set(rules)
        readings = 1 + sum(len(RULES[name]) - 1 for name in rules)
        assert len({twin.views() for twin in records.twins()} | {records.views()}) == readings
        assert len({twin.notes() for twin in records.twins()} | {records.notes()}) == readings
    assert all(len(options) > 1 for options in RULES.values())
