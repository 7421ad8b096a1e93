"""math/math-verify: verdicts, hostile replies, references it cannot use, threads, a missing package."""

import importlib.util
import threading

import pytest

import verigym
from verigym.verifiers.math import math_verify
from verigym.verifiers.math.math_verify import MathVerifyVerifier
from verigym.verifiers.pool import VerifierPool

# Not imported here: every worker reads this file, and few need the library.
if importlib.util.find_spec("math_verify") is None:
    pytest.skip("pip install 'verigym[math]'", allow_module_level=True)


def task(gold):
    reference = {"answers": gold} if isinstance(gold, list) else {"answer": gold}
    return verigym.Task(
        id="t", env_id="e", seed=0, prompt="p", difficulty="easy", reference=reference
    )


@pytest.mark.parametrize(
    ("gold", "reply", "score", "reason"),
    [
        ("3/4", "So it is \\boxed{0.75}.", 1.0, "correct"),
        ("3/4", "<think>1/2</think><answer>\\frac{3}{4}</answer>", 1.0, "correct"),
        ("3/4", "<think>3/4</think>", 0.0, "no_answer"),
        (["5", "7"], "7", 1.0, "correct"),
        ("7", "8", 0.0, "wrong_answer"),
        ("7", "", 0.0, "no_answer"),
        ("7", 7, 0.0, "not_text"),
        ("7", "7" * (1 << 20) + "7", 0.0, "too_long"),
    ],
)
def test_it_gives_the_verdict_of_the_library(gold, reply, score, reason):
    verdict = MathVerifyVerifier(cpu_s=60.0).verify(task(gold), reply)
    assert (verdict.score, verdict.reason) == (score, reason), verdict.evidence


@pytest.mark.parametrize(
    "reply",
    [
        "9^{9^{9^9}}",
        "9**9**9",
        "\\boxed{100000!}",
        "((((((((((7))))))))))",
        "\\frac{1}{" * 80 + "2" + "}" * 80,
        "7" * 5000,
        "x" * 5000,
        "__import__('os').system('true')",
    ],
)
def test_hostile_replies_are_wrong_and_no_fault(reply):
    verdict = MathVerifyVerifier(cpu_s=60.0).verify(task("7"), reply)
    assert verdict.score == 0.0, verdict


def test_a_reply_that_never_ends_is_killed_and_wrong_and_the_next_is_judged():
    verifier = MathVerifyVerifier(cpu_s=1.0)
    verdict = verifier.verify(task("7"), "\\boxed{2^{(9^9)}}")
    assert (verdict.score, verdict.reason) == (0.0, "too_slow")
    assert verifier.verify(task("7"), "7").score == 1.0


def test_a_reference_that_is_too_big_is_the_authors_fault():
    verdict = MathVerifyVerifier().verify(task("9^{9^{9^9}}"), "7")
    assert verdict.score is None
    assert verdict.reason == "bad_task"


def test_threads_may_call_it():
    verifier = MathVerifyVerifier(cpu_s=60.0)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(verifier.verify(task("1/2"), "0.5").score))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1.0] * 4


@pytest.mark.slow
def test_it_runs_in_the_pool():
    with VerifierPool(1) as pool:
        assert pool.verify("math/math-verify", task("1/2"), "0.5").score == 1.0


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    monkeypatch.setattr(math_verify, "find_spec", lambda name: None)
    with pytest.raises(verigym.errors.RequestError, match=r"pip install 'verigym\[math\]'"):
        MathVerifyVerifier()
    assert importlib.util.find_spec("math_verify") is not None
