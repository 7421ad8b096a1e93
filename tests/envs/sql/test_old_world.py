"""`sql/explore` over an old system's tables: the notes stand where one looks, and all are needed."""

import re

import pytest

import verigym
from verigym.envs.sql.records import FIXED, RULES


@pytest.mark.parametrize(
    "level", [8, *(pytest.param(level, marks=pytest.mark.slow) for level in (9, 10))]
)
def test_the_oracle_reads_every_note_and_answers(level):
    env = verigym.make("sql/explore-v0")
    env.reset(seed=level, options={"difficulty": level})
    notes, over, turns = set(), False, 0
    while not over:
        shown, reward, over, _, _ = env.step(env.oracle())
        notes |= {line for line in shown.splitlines() if line.startswith("- ")}
        turns += 1
    assert reward == 1.0
    spare = env.turns_allowed(env.task) - turns
    assert spare >= (4 if level == 8 else 2)
    picks = env.task.reference["old"]["picks"]
    assert len(notes) == len(FIXED) + len(picks) + (3 if level > 8 else 0)
    assert set(picks) == {*RULES} or level < 10


def test_the_rows_shown_are_those_that_queries_read():
    env = verigym.make("sql/explore-v0")
    env.reset(seed=3, options={"difficulty": 10})
    listed = dict(re.findall(r"^(\w+) \((\d+) rows\)$", env.tables(), re.MULTILINE))
    assert len(listed) == 3 * 7 + 1 + 3 * 4  # three systems have a table on each topic
    for table, rows in listed.items():
        shown, ran = env.query(f"SELECT COUNT(*) AS n FROM {table}")
        assert ran
        assert shown.splitlines()[1] == rows
    codes = [table for table in listed if table.endswith("_codes")]
    assert len(codes) == 3
    assert all("part of the PRIMARY KEY" in env.describe(table) for table in codes)


def test_a_query_without_the_notes_earns_nothing():
    env = verigym.make("sql/explore-v0")
    for seed in range(2):
        task = env.sample_task(seed, "8")
        query = task.reference["query"]
        without = re.sub(r"WHERE s\.closed_on IS NULL AND|WHERE \(s\.closed_on IS NULL OR s\.closed_on >= '\S+'\) AND", "WHERE", query)  # fmt: skip
        assert without != query
        assert env.verifier.verify(task, query).score == 1.0
        assert env.verifier.verify(task, without).score == 0.0
