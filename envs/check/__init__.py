"""`verigym check`: proves that an environment keeps the contract, law by law, and measures it.

    report = check("games/keydoor-v0", seeds=200)
    assert report.passed, report.text()

`subject.py` plays, each file of `laws/` states laws of one kind, `run.py` applies them, `card.py` writes
down what was found. The tests of Verigym apply the same laws to its own environments.

Covers: Gymnasium's contract, determinism, splits, the oracle, what must not be paid, secrecy, state
keys, purity, cost. Does not cover: whether a task is worth learning, or its prompt well written.
"""

from verigym.envs.check.run import LAWS, CheckReport, LawOutcome, check

__all__ = ["LAWS", "CheckReport", "LawOutcome", "check"]
