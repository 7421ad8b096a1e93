"""`sql/scale`: every kind of answer found again by numpy, and what queries may not."""

import multiprocessing
import re
from datetime import date, timedelta

import numpy as np
import pytest

import verigym
from tests.envs.sql.big_in_numpy import Columns, number_of
from verigym.envs.sql import big
from verigym.envs.sql.big import DAYS, FIRST_DAY, Extent
from verigym.envs.sql.scale_questions import KINDS

ID = "sql/scale-v0"


def found(kind, question, c):
    """The answer to a question, from its words."""
    years = re.findall(r"\b(20\d\d)\b", question)
    year = (c.day >= number_of(f"{years[0]}-01-01")) & (c.day <= number_of(f"{years[0]}-12-31"))
    quoted = re.findall(r"'(\w+)'", question)
    if kind == "on_day":
        day = number_of(re.search(r"\d{4}-\d\d-\d\d", question)[0])
        return np.count_nonzero(c.day == day)
    if kind == "of_kind":
        return c.amount[year & (c.kind == quoted[0])[c.thing]].sum()
    if kind == "busy":
        more = int(re.search(r"above (\d+)", question)[1])
        return np.count_nonzero((c.kind == quoted[0]) & (c.totals(year) > more))
    if kind == "counted":
        least = int(re.search(r"at least (\d+)", question)[1])
        low, high = map(number_of, re.findall(r"\d{4}-\d\d-\d\d", question))
        return np.count_nonzero((c.amount >= least) & (c.day >= low) & (c.day <= high))
    if kind == "different":
        least = int(re.search(r"at least (\d+)", question)[1])
        return len(np.unique(c.thing[year & (c.amount >= least)]))
    if kind == "summed":
        month = int(re.search(r"month (\d+)", question)[1])
        first = date(int(years[0]), month, 1)
        low = number_of(first.isoformat())
        high = number_of((first + timedelta(31)).replace(day=1).isoformat())
        return c.amount[(c.day >= low) & (c.day < high)].sum()
    if kind == "joined":
        right = (c.kind == quoted[0]) & (c.region[c.owner] == quoted[1])
        return c.amount[year & right[c.thing]].sum()
    if kind == "frequent":
        least = int(re.search(r"at least (\d+)", question)[1])
        return np.count_nonzero(np.bincount(c.thing[year], minlength=c.things) >= least)
    if kind == "gaps":
        more = int(re.search(r"more than (\d+)", question)[1])
        order = np.lexsort((c.day[year], c.thing[year]))
        thing, day = c.thing[year][order], c.day[year][order]
        return np.count_nonzero((np.diff(thing) == 0) & (np.diff(day) > more))
    if kind == "passed":
        bound, start = int(re.search(r"exceed (\d+)", question)[1]), number_of(f"{years[0]}-01-01")
        mask = (c.kind == quoted[0])[c.thing] & (c.day >= start)
        total = np.cumsum(np.bincount(c.day[mask], c.amount[mask], DAYS))
        at = int(np.argmax(total > bound))
        return date.fromisoformat(FIRST_DAY) + timedelta(at)
    totals = c.totals(year)
    ids = np.flatnonzero(
        (c.kind == quoted[0]) & (np.bincount(c.thing[year], minlength=c.things) > 0)
    )
    order = ids[np.lexsort((ids, -totals[ids]))]
    if kind == "busiest":
        assert totals[order[0]] > totals[order[1]]
        return order[0] + 1
    place = int(re.search(r"place (\d+) of", question)[1])
    return order[place - 1] + 1


@pytest.mark.parametrize(
    "level", [pytest.param(n, marks=pytest.mark.slow if n > 2 else ()) for n in KINDS]
)
def test_numpy_finds_the_same(level):
    env = verigym.make(ID)
    missing = {kind.__name__ for kind in KINDS[level]}
    for seed in range(40):
        if not missing:
            break
        task = env.sample_task(seed, level)
        kind = task.tags[1]
        if kind in missing:
            missing.remove(kind)
            question = task.prompt.splitlines()[1]
            value = found(kind, question, Columns(Extent(**task.reference["extent"])))
            assert str(value) == task.reference["answer"], question
    assert not missing


PARTS = {
    "both included": "counted",
    "How many different": "different",
    "in month": "summed",
    "and whose": "joined",
    "had at least": "frequent",
    "days lie between": "gaps",
}


def test_numpy_finds_the_same_sums():
    env = verigym.make(ID)
    met = set()
    for seed in range(5):
        task = env.sample_task(seed, 7)
        columns = Columns(Extent(**task.reference["extent"]))
        parts = re.findall(r"^\d\. (.*)$", task.prompt, re.MULTILINE)
        kinds = [next(kind for words, kind in PARTS.items() if words in part) for part in parts]
        total = sum(found(kind, part, columns) for kind, part in zip(kinds, parts, strict=True))
        met |= set(kinds)
        assert str(total) == task.reference["answer"]
    assert len(met) > 3


@pytest.fixture
def env():
    made = verigym.make(ID, max_turns=100)
    made.reset(seed=2)
    return made


def shown(env, name, text=""):
    return env.step(f"<{name}>{text}</{name}>")[0]


def test_the_tables_are_as_they_are_described(env):
    extent = Extent(**env.task.reference["extent"])
    d = extent.names
    sizes = {d.owner: 40, d.thing: 4000, d.event: 200_000}
    for table, size in sizes.items():
        assert f"{table} ({size} rows)" in shown(env, "tables")
        assert f"\n{size}\n" in shown(env, "query", f"SELECT COUNT(*) FROM {table}")
        described = shown(env, "describe", table)
        header = shown(env, "query", f"SELECT * FROM {table} LIMIT 1").splitlines()[0]
        assert [line.split()[0] for line in described.splitlines()[1:]] == header.split(" | ")
    for child, parent in ((d.thing, d.owner), (d.event, d.thing)):
        orphans = f"SELECT COUNT(*) FROM {child} c LEFT JOIN {parent} p ON p.id = c.{parent}_id WHERE p.id IS NULL"
        assert "\n0\n" in shown(env, "query", orphans)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("DROP TABLE base", "only queries"),
        ("SET threads = 4", "only queries"),
        ("COPY (SELECT 1) TO '/tmp/x'", "only queries"),
        ("SELECT * FROM base", "no table"),
        ("SELECT * FROM '/etc/passwd'", "no table"),
        ("SELECT * FROM read_csv('/etc/passwd')", "not among the allowed"),
        ("SELECT * FROM duckdb_settings()", "not among the allowed"),
        ("SELECT * FROM range(1000000000)", "of any size"),
        ("SELECT repeat('x', 1000000000)", "of any size"),
        ("SELECT julianday('2020-01-01')", "DuckDB has no function julianday"),
        ("SELECT random()", "random"),
        ("SELECT * FROM {event} USING SAMPLE 3", "samples"),
        ("SELECT * FROM {event}", "more than 2000 rows"),
    ],
)
def test_what_queries_may_not(env, query, why):
    event = Extent(**env.task.reference["extent"]).names.event
    observation, reward, over, cut, info = env.step(f"<query>{query.format(event=event)}</query>")
    assert re.search(why, observation)
    assert (reward, over, cut, info["valid_action"]) == (0.0, False, False, False)


def test_a_query_without_end_is_stopped_and_the_next_one_runs(env, monkeypatch):
    monkeypatch.setattr(big, "QUERY_S", 0.2)
    event = Extent(**env.task.reference["extent"]).names.event
    assert "too long" in shown(
        env, "query", f"SELECT COUNT(*) FROM {event} a, {event} b, {event} c"
    )
    monkeypatch.undo()
    assert "200000" in shown(env, "query", f"SELECT COUNT(*) FROM {event}")


def test_tasks_side_by_side_have_rows_of_their_own(env):
    other = verigym.make(ID, max_turns=100)
    seed = next(
        seed
        for seed in range(3, 100)
        if other.sample_task(seed).reference["extent"]["domain"]
        == env.task.reference["extent"]["domain"]
    )
    other.reset(seed=seed)
    event = Extent(**env.task.reference["extent"]).names.event
    query = f"SELECT * FROM {event} ORDER BY id LIMIT 5"
    here, there = shown(env, "query", query), shown(other, "query", query)
    assert here != there
    assert shown(env, "query", query) == here


def _play(seed):
    env = verigym.make(ID)
    env.reset(seed=seed)
    return env.step(env.oracle())[0], env.step(env.oracle())[1]


def test_a_fork_makes_its_own_database(env):
    """DuckDB does not survive a fork: its threads stay behind."""
    shown(env, "tables")
    env.oracle()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_play, (2,)) == _play(2)


def test_only_the_value_is_paid(env):
    answer = env.task.reference["answer"]
    start = env.snapshot()
    for reply, reward in (
        (answer, 1.0),
        (f"It is {int(answer):,}.", 1.0),
        (str(int(answer) + 1), 0.0),
        (f"{answer} or {int(answer) + 1}", 0.0),
        (", ".join(str(int(answer) + n) for n in range(-5, 6)), 0.0),
        (env.task.reference["query"], 0.0),
        ("", 0.0),
    ):
        env.restore(start)
        _, got, over, _, _ = env.step(f"<answer>{reply}</answer>")
        assert (got, over) == (reward, True), reply
