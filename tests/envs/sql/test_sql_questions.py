"""`sql/questions` and `sql/repair`: right queries are paid, those of twins are not, and only the question says which."""

import re
from statistics import fmean

import numpy as np
import pytest

import verigym
from verigym.envs.sql.crowded import crowded
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.kinds import KINDS
from verigym.envs.sql.questions import judged_by
from verigym.envs.sql.report import COLUMNS, NEW, SHOWN, SIMPLE, Report, draw
from verigym.envs.sql.write_query import QueryWriter, names_of

ALL = [*(kind for kinds in KINDS.values() for kind in kinds), *COLUMNS]
OVER_PLAIN_TABLES = [*(kind for kinds in KINDS.values() for kind in kinds), *SIMPLE, *NEW[7]]
"""Kinds that are drawn over plain tables; those of higher levels have rows of their own, see `test_records`."""


def drawn(kind, seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
    if kind in COLUMNS:
        return Report(domain, (SHOWN.draw(rng, domain), kind.draw(rng, domain)))
    return kind.draw(rng, domain)


@pytest.mark.parametrize("level", range(1, 11))
def test_the_words_alone_say_which_query_is_asked_for(level):
    for seed in range(8):
        rng = np.random.Generator(np.random.PCG64(seed))
        asked = draw(rng, DOMAINS[seed], level)
        writer, names = QueryWriter(), names_of(asked.domain)
        assert writer.read(asked.question, asked.domain).query == asked.query
        assert (
            writer.write(asked.query, names, {name: name.upper() for name in names}) != asked.query
        )


@pytest.mark.slow
@pytest.mark.parametrize("kind", OVER_PLAIN_TABLES, ids=lambda kind: kind.name)
def test_the_query_of_a_twin_earns_nothing(kind):
    verifier = verigym.make("sql/questions-v0").verifier
    for seed in range(2):
        asked = drawn(kind, seed)
        task = verigym.Task(
            id="t",
            env_id="e",
            seed=0,
            prompt="p",
            difficulty="easy",
            reference=judged_by(asked),
        )
        assert verifier.verify(task, f"So:\n```sql\n{asked.query};\n```").score == 1.0
        for twin in asked.twins():
            verdict = verifier.verify(task, twin.query)
            assert verdict.score == 0.0, (asked.query, twin.query, verdict)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_a_question_is_a_twin_of_its_twins(kind):
    asked = drawn(kind, 5)
    twins = asked.twins()
    shown = int(kind in COLUMNS)  # the name or the id of a report
    assert len(twins) == shown + sum(len(choice) - 1 for choice in kind.choices.values()) >= 6
    for twin in twins:
        assert (asked.question, asked.query) in [(t.question, t.query) for t in twin.twins()]
    assert len({twin.question for twin in twins} | {asked.question}) == len(twins) + 1
    assert len({twin.query for twin in twins} | {asked.query}) == len(twins) + 1
    assert not re.search("[{}]", asked.question + asked.query)


def test_the_chance_of_a_repair_is_what_undoing_a_twin_at_random_earns():
    chances = [
        fmean(1 / sum(len(choice) - 1 for choice in kind.choices.values()) for kind in kinds)
        for kinds in KINDS.values()
    ]
    assert max(chances) == pytest.approx(verigym.make("sql/repair-v0").chance, abs=0.005)


def test_a_question_to_repair_is_in_one_split_however_it_is_broken():
    env = verigym.make("sql/repair-v0")
    asked = {
        split: {
            (env.sample_task(seed, "easy", split=split).prompt.partition("\nThis SQLite")[0])
            for seed in range(60)
        }
        for split in verigym.SPLITS
    }
    assert not asked["train"] & asked["test"]
    assert not asked["train"] & asked["validation"]


@pytest.mark.parametrize("name", ["questions", "explore"])
def test_rows_that_a_limit_cuts_and_ties_are_missed(name):
    env = verigym.make(f"sql/{name}-v0")
    tasks = [env.sample_task(seed, "medium") for seed in range(6)]
    for task in tasks:
        query = task.reference["query"]
        assert env.verifier.verify(task, query).score == 1.0
        assert env.verifier.verify(task, f"{query} LIMIT 2").score == 0.0, query
        if "having" in task.tags:
            assert env.verifier.verify(task, f"{query} LIMIT 5").score == 0.0, query
            assert env.verifier.verify(task, f"{query} DESC").score == 0.0, query
    assert any("having" in task.tags for task in tasks)
    assert any("joined" in task.tags for task in tasks)


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.owner)
def test_the_crowded_database_keeps_the_keys(domain, in_order):
    rows = crowded(domain, in_order=in_order)
    owners = {row[0] for row in rows[domain.owner]}
    things = {row[0] for row in rows[domain.thing]}
    assert {row[1] for row in rows[domain.thing]} <= owners
    assert {row[1] for row in rows[domain.event]} <= things
    for table, columns in domain.tables().items():
        assert all(len(row) == len(columns) for row in rows[table])
        assert len({row[0] for row in rows[table]}) == len(rows[table])
        nullable = [at for at, (name, _) in enumerate(columns) if name == domain.region]
        assert all(
            v is not None or at in nullable for row in rows[table] for at, v in enumerate(row)
        )


def test_the_broken_query_earns_nothing_and_its_repair_all():
    env = verigym.make("sql/repair-v0")
    for seed, difficulty in enumerate(env.difficulties * 3):
        env.reset(seed=seed, options={"difficulty": difficulty})
        broken = re.search(r"```sql\n.*?\n```", env.task.prompt, re.DOTALL)[0]
        assert env.verifier.verify(env.task, broken).score == 0.0, broken
        assert env.step(env.oracle())[1] == 1.0


def test_the_domains_differ():
    assert len(DOMAINS) >= 8
    assert len({domain.ddl() for domain in DOMAINS}) == len(DOMAINS)
