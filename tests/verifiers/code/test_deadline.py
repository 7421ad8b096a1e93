"""Slow programs end as the policy's fault before the verdict's deadline; a slow machine is a fault."""

import time

import pytest

from verigym import Status, make_verifier
from verigym.sandbox.local import default_sandbox
from verigym.verifiers.audit.cases import general_task
from verigym.verifiers.deadline import deadline, deadline_in
from verigym.verifiers.pool import VerifierPool

SLOW = "import time\ntime.sleep(1)\nn = int(input())\nprint(n if n < 7 else 0)"
TESTS = [{"stdin": f"{n}\n", "stdout": f"{n}\n"} for n in range(30)]
FILES = {"lib/__init__.py": "", "lib/a.py": "def f(n):\n    return n\n"}


def task(reference):
    return general_task({"reference": reference}, "t")


@pytest.mark.slow
@pytest.mark.parametrize("params", [{}, {"partial": True}, {"run_all": True}])
def test_a_program_that_is_slow_in_each_test_is_no_timeout_of_the_verifier(params):
    with VerifierPool(1, timeout_s=10.0) as pool:
        verdict = pool.verify("code/stdio", task({"tests": TESTS}), SLOW, params=params)
    assert verdict.status in (Status.OK, Status.POLICY_FAULT), verdict
    assert verdict.score < 0.5
    if not params:
        assert verdict.reason in ("time_limit", "wrong_output")


@pytest.mark.slow
def test_a_slow_patch_is_no_timeout_either():
    tests = [{"args": [n], "result": n} for n in range(30)]
    reference = {"files": FILES, "entry": "lib.a:f", "tests": tests}
    patch = (
        "```python\n# file: lib/a.py\nimport time\ndef f(n):\n    time.sleep(1)\n    return n\n```"
    )
    with VerifierPool(1, timeout_s=10.0) as pool:
        verdict = pool.verify("code/repo", task(reference), patch)
    assert (verdict.status, verdict.reason) == (Status.POLICY_FAULT, "time_limit"), verdict


class Busy:
    """The sandbox of a machine that takes its time before each job."""

    max_jobs = 1

    def __init__(self, seconds):
        self._seconds, self._place = seconds, default_sandbox()
        self.languages = self._place.languages

    def run(self, job, cancellation=None):
        time.sleep(self._seconds)
        return self._place.run(job, cancellation=cancellation)


def test_a_slow_machine_is_a_fault():
    verifier = make_verifier("code/stdio")
    verifier.sandbox = Busy(1.0)
    program = "import time\ntime.sleep(0.1)\nprint(input())"
    with deadline_in(4.0):
        verdict = verifier.verify(task({"tests": TESTS}), program)
    assert (verdict.status, verdict.score) == (Status.INFRA, None), verdict


def test_there_is_no_deadline_unless_somebody_says_so():
    assert deadline() == float("inf")
    with deadline_in(0):
        assert deadline() == float("inf")
    with deadline_in(5):
        assert 4 < deadline() - time.monotonic() <= 5
    assert deadline() == float("inf")
