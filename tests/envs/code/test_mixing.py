"""The chain before the functions of `code/tests` can be undone, and has to be."""

import json

import numpy as np
import pytest

import verigym
from verigym.envs.code.mixing import Mixing, draw_mixing
from verigym.envs.code.mutated import TRUTH, several, whole
from verigym.verifiers.code.inputs import breach

PAIRS = {"kind": "list", "low": 0, "high": 6, "of": several(2, -50, 50, least=2)}
BOUNDS = {"a": several(5, -5000, 5000), "b": PAIRS, "c": whole(-4000, 3000), "d": TRUTH}


def given(mixing, value, name):
    """Return the value that a function gets for an argument, by the program that the task shows."""
    space = {name: value}
    exec(mixing.source([BOUNDS[name]]), space)
    return eval(mixing.expression(name, BOUNDS[name]), space)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a", []),
        ("a", [-5000]),
        ("a", [5000, 0, 0, -5000, 17]),
        ("b", []),
        ("b", [[-50, 50], [0, 0], [3, -3]]),
        ("c", -4000),
        ("c", 3000),
        ("d", True),
    ],
)
def test_the_chain_takes_what_undoes_it_to_the_value_that_is_wanted(name, value):
    rng = np.random.default_rng(1)
    for rounds in (2, 4, 8):
        mixing = draw_mixing(rng, rounds, list(BOUNDS.values()))
        before = mixing.undo(value, BOUNDS[name], lambda: None)
        assert not breach(before, BOUNDS[name])
        assert given(mixing, before, name) == value


def test_numbers_of_one_chain_worked_out_by_hand():
    mixing = Mixing(rounds=2, start=1, odd=3, even=7, times=2)
    # Modulo 101, from -50. Turn 0 with 1: 3 * 50 + 1 = 50, then with 2 * 1 + 50 = 52: 7 * 51 - 52 = 2.
    # Turn 1 with 2, the other way round: 7 * 2 - 2 = 12, then with 2 * 2 + 12 = 16: 7 * 50 - 16 = 31.
    assert given(mixing, [[0, 1]], "b") == [[31 - 50, 12 - 50]]


def test_what_tells_without_the_chain_tells_hardly_any_with_it():
    env = verigym.make("code/tests")
    earned = []
    for seed in range(12):
        env.reset(seed=seed, options={"difficulty": 8 + seed % 3})
        reference = env.task.reference
        mixing = Mixing(**reference["mixing"])
        calls = []
        for call in reference["killing"]:
            space = {}
            exec(mixing.source(reference["args"]), space)
            names = [f"arg_{at}" for at in range(len(call))]
            space |= dict(zip(names, call, strict=True))
            plain = [
                eval(mixing.expression(name, bound), space)
                for name, bound in zip(names, reference["args"], strict=True)
            ]
            assert all(not breach(v, b) for v, b in zip(plain, reference["args"], strict=True))
            calls.append(plain)
        earned.append(env.step(json.dumps(calls))[1])
    assert sum(earned) / len(earned) < 0.05


def test_undoing_more_rounds_takes_more_operations():
    env = verigym.make("code/tests")
    means = []
    for level in (7, 8, 9, 10):
        counts = []
        for seed in range(10):
            env.reset(seed=seed, options={"difficulty": level})
            counts.append(env.work(env.state))
        means.append(sum(counts) / len(counts))
    assert means == sorted(means)
    assert means[-1] > 1.5 * means[-2] > 2 * means[0]
