"""The caches of mathematics are bounded by the characters that were judged."""

from itertools import pairwise

from verigym.verifiers.math import remembered
from verigym.verifiers.math.answer import AnswerVerifier
from verigym.verifiers.math.cases import task_of


def entries():
    return sum(one.cache_info().currsize for one in remembered.bounded_caches())


def test_the_caches_are_emptied_after_so_many_characters(monkeypatch):
    judge = AnswerVerifier()
    assert len(remembered.bounded_caches()) > 20
    remembered.count(remembered.LIMIT_CHARS + 1)
    assert entries() == 0
    monkeypatch.setattr(remembered, "LIMIT_CHARS", 10_000)
    sizes, verdicts = [], set()
    for i in range(60):
        task = task_of({"gold": str(2 * i), "question": f"What is {i} plus {i}?"})
        verdicts.add(judge.verify(task, f"Altogether this makes {2 * i}." + " " * 900).score)
        sizes.append(entries())
    assert verdicts == {1.0}
    assert max(sizes) > sizes[0]
    assert any(after < before for before, after in pairwise(sizes))
