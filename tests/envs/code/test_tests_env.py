"""`code/tests`: every wrong version can be told from the right one, whatever numbers are drawn."""

import json

import numpy as np
import pytest

import verigym
from verigym.envs.code.mutated import FUNCTIONS, LEVELS
from verigym.envs.code.tests import killing_inputs
from verigym.verifiers.code.counted import library, machine
from verigym.verifiers.code.inputs import breach, said

ALL = [pytest.param(one, id=one.name) for level in LEVELS.values() for one in level]


def numbers_of(one, rng):
    return {name: int(rng.integers(low, high + 1)) for name, (low, high) in one.draws.items()}


def reference_of(one, numbers, changes):
    return {
        "function": one.name,
        "program": one.program(numbers),
        "mutants": [one.program(numbers, change) for change in changes],
        "args": list(one.args.values()),
        "numbers": numbers,
    }


def native(program, name, call):
    space = {}
    exec(program, space)
    return space[name](*json.loads(json.dumps(call)))


def check(one, rng):
    numbers = numbers_of(one, rng)
    for change in range(len(one.changes)):
        reference = reference_of(one, numbers, [change])
        (call,) = killing_inputs(reference)
        for value, bound in zip(call, reference["args"], strict=True):
            assert not breach(value, bound)
        # Python itself agrees with the step counter about the right program.
        playing = machine.Machine(library, 20_000)
        frame = playing.load(reference["program"])
        wanted = playing.call_named(frame, one.name, json.loads(json.dumps(call)))
        assert native(reference["program"], one.name, call) == wanted


@pytest.mark.parametrize("one", ALL)
def test_every_change_is_made_and_can_be_told(one):
    for old, _ in one.changes:
        assert old in one.body
    check(one, np.random.default_rng(1))


@pytest.mark.slow
@pytest.mark.parametrize("one", ALL)
def test_it_can_be_told_whatever_the_numbers(one):
    rng = np.random.default_rng(2)
    for _ in range(8):
        check(one, rng)


def test_no_number_is_left_a_word():
    rng = np.random.default_rng(3)
    for one in FUNCTIONS.values():
        program = one.program(numbers_of(one, rng))
        assert not any(name in program for name in one.draws), program


def test_bounds_are_said_in_words():
    assert said(FUNCTIONS["covered"].args["pieces"]) == (
        "a list of 0 to 6 items, each a list of 2 to 2 items, each a whole number from -20 to 20"
    )


def test_fewer_inputs_earn_less():
    env = verigym.make("code/tests")
    env.reset(seed=4, options={"difficulty": "hard"})
    calls = json.loads(env.oracle().split("\n")[1])
    while len(calls) < 2:
        env.reset()
        calls = json.loads(env.oracle().split("\n")[1])
    _, reward, over, _, info = env.step(json.dumps(calls[:1]))
    assert over
    assert 0.0 < reward < 1.0
    assert info["valid_action"]
