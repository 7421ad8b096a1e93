"""`sql/questions` and `sql/repair`: right queries are paid, those with a mistake are not."""

import re

import pytest

import verigym
from verigym.envs.sql.crowded import crowded
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.questions import KINDS
from verigym.envs.sql.repair import MISTAKES


@pytest.mark.parametrize(
    ("difficulty", "kind"), [(d, kind.__name__) for d, kinds in KINDS.items() for kind in kinds]
)
def test_mistakes_earn_nothing(difficulty, kind):
    env = verigym.make("sql/questions-v0")
    tasks = [env.sample_task(seed, difficulty) for seed in range(60)]
    for task in [task for task in tasks if kind in task.tags][:3]:
        query = task.reference["query"]
        assert env.verifier.verify(task, f"So:\n```sql\n{query};\n```").score == 1.0
        for old, new in MISTAKES[kind]:
            assert old in query
            wrong = query.replace(old, new, 1)
            verdict = env.verifier.verify(task, wrong)
            assert verdict.score == 0.0, (wrong, verdict)


@pytest.mark.parametrize("name", ["questions", "explore"])
def test_rows_that_a_limit_cuts_and_ties_are_missed(name):
    env = verigym.make(f"sql/{name}-v0")
    tasks = [env.sample_task(seed, "medium") for seed in range(8)]
    for task in tasks:
        query = task.reference["query"]
        assert env.verifier.verify(task, query).score == 1.0
        assert env.verifier.verify(task, f"{query} LIMIT 2").score == 0.0, query
        if "having" in task.tags:
            assert env.verifier.verify(task, f"{query} LIMIT 5").score == 0.0, query
            assert env.verifier.verify(task, f"{query} DESC").score == 0.0, query
    assert any("having" in task.tags for task in tasks)
    assert any("joined" in task.tags for task in tasks)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.owner)
def test_the_crowded_database_keeps_the_keys(domain):
    rows = crowded(domain)
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
    for seed, difficulty in enumerate(env.difficulties * 4):
        env.reset(seed=seed, options={"difficulty": difficulty})
        broken = re.search(r"```sql\n.*?\n```", env.task.prompt, re.DOTALL)[0]
        assert env.verifier.verify(env.task, broken).score == 0.0, broken
        assert env.step(env.oracle())[1] == 1.0


def test_the_domains_differ():
    assert len(DOMAINS) >= 8
    assert len({domain.ddl() for domain in DOMAINS}) == len(DOMAINS)
