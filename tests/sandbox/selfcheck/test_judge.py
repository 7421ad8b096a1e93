"""Outcomes from what was seen."""

from __future__ import annotations

from typing import Any

import pytest

from verigym.sandbox.job import JobStatus, Result
from verigym.sandbox.selfcheck.attack import Attack
from verigym.sandbox.selfcheck.judge import CONTAINED, ESCAPED, UNKNOWN, AttackRecord, judge

SECRETS = {b"sbx-0123456789abcdef": "the host's token"}


def attack(**changes: Any) -> Attack:
    given: dict[str, Any] = {
        "name": "x",
        "file": "x.py",
        "language": "python",
        "source": "",
        "expect": "CONTAINED: it is",
    }
    return Attack(**{**given, **changes})


def seen(stdout: bytes = b"", **changes: Any) -> AttackRecord:
    own = {
        name: changes.pop(name)
        for name in ("outside", "load", "wall_s", "then", "absent")
        if name in changes
    }
    result = Result(**{"status": JobStatus.OK, "exit_code": 0, "stdout": stdout, **changes})
    return AttackRecord(**{"result": result, "wall_s": 0.1, **own})


@pytest.mark.parametrize(
    ("program", "what", "outcome", "words"),
    [
        (attack(), seen(b"CONTAINED errno 1\n"), CONTAINED, "CONTAINED errno 1"),
        (attack(), seen(b"CONTAINED a\nESCAPED b\n"), ESCAPED, "ESCAPED b"),
        (attack(), seen(b"  ESCAPED b"), ESCAPED, "ESCAPED b"),
        (attack(), seen(b"not ESCAPED\n"), CONTAINED, "ended as ok"),
        (attack(), seen(), CONTAINED, "ended as ok, exit code 0"),
        (
            attack(),
            seen(status=JobStatus.SIGNAL, exit_code=None, signal=31),
            CONTAINED,
            "signal 31",
        ),
        (attack(), seen(b"LEAK [1]\n"), ESCAPED, "LEAK"),
        (attack(expect="LEAK tolerated: time"), seen(b"LEAK [1]\n"), CONTAINED, "LEAK"),
        (attack(expect="LEAK tolerated: time"), seen(b"INFO 3\n"), CONTAINED, "INFO 3"),
        (attack(), seen(b"CONTAINED", outside=["reached"]), ESCAPED, "reached"),
        (attack(), seen(b"CONTAINED", then=seen(b"ESCAPED it was there").result), ESCAPED, "there"),
        (attack(), seen(b"a sbx-0123456789abcdef"), ESCAPED, "token is in standard output"),
        (attack(), seen(files={"out.txt": b"sbx-0123456789abcdef"}), ESCAPED, "'out.txt'"),
        (attack(), seen(files={"../up": b""}), ESCAPED, "name"),
        (attack(), seen(files={"x": b""}, refused={"x": "no"}), ESCAPED, "'x' came back and"),
        (attack(), seen(b"x" * (1 << 21)), ESCAPED, "came back with"),
        (attack(exit_code=3), seen(), ESCAPED, "not exit code 3"),
        (attack(statuses=("time_limit",)), seen(), ESCAPED, "not time_limit"),
        (attack(), seen(memory_mib=900.0), ESCAPED, "900 MiB"),
        (attack(), seen(status=JobStatus.SANDBOX_ERROR, detail="broke"), UNKNOWN, "broke"),
        (attack(), seen(absent="c is not installed"), UNKNOWN, "c is not installed"),
        (
            attack(),
            seen(status=JobStatus.NONZERO_EXIT, exit_code=1, stderr=b"x\nNameError: y\n"),
            UNKNOWN,
            "broken",
        ),
        (
            attack(),
            seen(status=JobStatus.NONZERO_EXIT, exit_code=1, stderr=b"PermissionError: y\n"),
            CONTAINED,
            "exit code 1",
        ),
    ],
)
def test_judge(program: Attack, what: AttackRecord, outcome: str, words: str) -> None:
    found, evidence, again = judge(program, what, SECRETS)
    assert found == outcome
    assert words in evidence
    assert again == (what.result.status is JobStatus.SANDBOX_ERROR and outcome == UNKNOWN)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (attack(), seen(load=["the next honest job took 2.0 s"])),
        (attack(wall_s=4.0), seen(wall_s=9.0)),
        (attack(cpu_s=1.0), seen(cpu_s=9.0)),
        (attack(threat="cpu", statuses=("time_limit",), cpu_s=2.0), seen(b"ESCAPED", cpu_s=1.9)),
        (attack(expect="CONTAINED: verdict within 250 ms after main exit"), seen(wall_s=3.9)),
    ],
)
def test_what_load_may_cause_is_worth_another_try(program: Attack, what: AttackRecord) -> None:
    assert judge(program, what, SECRETS)[::2] == (ESCAPED, True)
