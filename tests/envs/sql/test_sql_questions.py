"""`sql/questions` and `sql/repair`: right queries are paid, those with a mistake are not."""

import re

import pytest

import verigym
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
