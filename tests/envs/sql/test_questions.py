"""`sql/questions`: near misses of each kind are refused."""

import pytest

import verigym
from verigym.envs.sql.domains import DOMAINS
from verigym.envs.sql.questions import KINDS


def task_of(env, difficulty, kind):
    """A task of this kind."""
    for seed in range(200):
        task = env.sample_task(seed, difficulty)
        if kind in task.tags:
            return task
    raise AssertionError(kind)


# What to replace in the reference, by something that is wrong.
CHANGES = {
    "filtered": [(" > ", " >= ")],
    "counted": [(">= '", "> '"), ("COUNT(*)", "COUNT(*) + 1")],
    "unknown": [(" IS NULL OR ", " IS NOT NULL AND ")],
    "grouped": [("LEFT JOIN", "JOIN"), ("COUNT(t.id)", "COUNT(*)")],
    "having": [("total DESC", "total"), ("<>", "=")],
    "joined": [("SELECT DISTINCT", "SELECT"), (" > ", " >= ")],
    "without": [("NOT EXISTS", "EXISTS"), ("EXISTS (SELECT 1", "NOT EXISTS (SELECT 1")],
    "above_average": [("AVG", "MIN"), (" AND t.", " OR t.")],
    "best_of_each": [("MAX", "MIN"), (" <= ", " < ")],
}


@pytest.mark.parametrize(
    ("difficulty", "kind"), [(d, kind.__name__) for d, kinds in KINDS.items() for kind in kinds]
)
def test_near_misses_earn_nothing(difficulty, kind):
    env = verigym.make("sql/questions-v0")
    task = task_of(env, difficulty, kind)
    query = task.reference["query"]
    assert env.verifier.verify(task, query).score == 1.0
    assert env.verifier.verify(task, f"Here it is:\n```sql\n{query};\n```").score == 1.0
    for old, new in CHANGES[kind]:
        if old in query:
            wrong = query.replace(old, new, 1)
            verdict = env.verifier.verify(task, wrong)
            assert verdict.score == 0.0, (wrong, verdict)


def test_the_domains_differ():
    assert len(DOMAINS) >= 8
    assert len({domain.ddl() for domain in DOMAINS}) == len(DOMAINS)
