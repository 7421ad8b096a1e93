"""Error types, which say whose fault an error is; every message offers a way on."""

import pickle

import pytest

import verigym
from verigym import errors


def test_the_tree():
    assert issubclass(verigym.ConfigError, verigym.RequestError)
    assert issubclass(verigym.RequestError, ValueError)
    named = {
        value
        for value in [*vars(errors).values(), *vars(verigym).values()]
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert all(issubclass(error, verigym.VerigymError) for error in named)
    for error in named:
        assert error.__name__ in errors.__doc__, f"{error.__name__} is missing from the tree"
        assert getattr(verigym, error.__name__) is error


def test_faults_are_not_the_caller_s():
    for error in (
        verigym.TaskError,
        verigym.SandboxError,
        verigym.PolicyError,
        verigym.VerifierFault,
    ):
        assert not issubclass(error, verigym.RequestError)


def test_a_verifier_fault_carries_its_verdict_between_processes():
    verdict = verigym.fault(verigym.Status.TIMEOUT, "deadline", "took 9 s of 5 s")
    error = pickle.loads(pickle.dumps(verigym.VerifierFault(verdict)))
    assert error.verdict == verdict
    for part in ("timeout", "deadline", "took 9 s of 5 s"):
        assert part in str(error)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("esy", ["easy", "hard"], "did you mean 'easy'?"),
        ("zzz", ["easy", "hard"], "known: easy, hard"),
        ("zzz", [], "none is known here"),
        (
            "q",
            [f"x{i:02}" for i in range(20)],
            "known: x00, x01, x02, x03, x04, x05, x06, x07, ...",
        ),
    ],
)
def test_suggestions(name, known, expected):
    assert errors.suggestion(name, known) == expected
