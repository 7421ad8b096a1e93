"""`code/tests`: every wrong version can be told from the right one, whatever numbers are drawn, and hardly by chance."""

import json
import re
from itertools import combinations

import numpy as np
import pytest

import verigym
from verigym.envs.code.tests import LEVELS
from verigym.verifiers.code.counted.library import COUNTED
from verigym.verifiers.code.counted.machine import Machine
from verigym.verifiers.code.counted.program import call_named, load
from verigym.verifiers.code.inputs import breach

ALL = [pytest.param(one, id=one.name) for level in LEVELS.values() for one in level]


def numbers_of(one, rng):
    return {name: int(rng.integers(low, high + 1)) for name, (low, high) in one.draws.items()}


def at_the_ends(one):
    return [{name: ends[at] for name, ends in one.draws.items()} for at in (0, 1)]


def native(program, name):
    """The function, run in this process: it is ours."""
    space = {}
    exec(program, space)
    return space[name]


def fresh(call):
    return json.loads(json.dumps(call))


def drawn(rng, bound):
    """A uniformly random value within a bound."""
    if bound["kind"] == "bool":
        return bool(rng.integers(2))
    number = int(rng.integers(bound["low"], bound["high"] + 1))
    return number if bound["kind"] == "int" else [drawn(rng, bound["of"]) for _ in range(number)]


def check(one, numbers):
    right = native(one.program(numbers), one.name)
    playing = Machine(COUNTED, 20_000)
    frame = load(playing, one.program(numbers))
    for change in range(len(one.changes)):
        call = one.telling(numbers, change)
        for value, bound in zip(call, one.args.values(), strict=True):
            assert not breach(value, bound)
        wrong = native(one.program(numbers, change), one.name)
        assert repr(wrong(*fresh(call))) != repr(right(*fresh(call))), (numbers, change)
        # The step counter, which judges, agrees with Python itself about both.
        other = load(playing, one.program(numbers, change))
        assert call_named(playing, frame, one.name, fresh(call)) == right(*fresh(call))
        assert call_named(playing, other, one.name, fresh(call)) == wrong(*fresh(call))


@pytest.mark.parametrize("one", ALL)
def test_every_change_is_made_and_can_be_told(one):
    for old, _, _ in one.changes:
        assert old in one.body
    rng = np.random.default_rng(1)
    for numbers in (*at_the_ends(one), *(numbers_of(one, rng) for _ in range(3))):
        check(one, numbers)


@pytest.mark.slow
@pytest.mark.parametrize("one", ALL)
def test_it_can_be_told_whatever_the_numbers(one):
    rng = np.random.default_rng(2)
    for _ in range(60):
        check(one, numbers_of(one, rng))


@pytest.mark.parametrize(
    ("one", "level"),
    [pytest.param(one, level, id=one.name) for level, ones in LEVELS.items() for one in ones],
)
def test_as_many_inputs_as_may_be_given_tell_all_changes(one, level):
    # Which wrong versions were made is hidden: full marks must not be luck.
    numbers = numbers_of(one, np.random.default_rng(5))
    right = native(one.program(numbers), one.name)
    wrong = [native(one.program(numbers, n), one.name) for n in range(len(one.changes))]
    calls = [one.telling(numbers, n) for n in range(len(wrong))]
    told = [
        {n for n, mutant in enumerate(wrong) if _outcome(mutant, call) != _outcome(right, call)}
        for call in calls
    ]
    most = verigym.make("code/tests").sample_task(0, level).reference["inputs"]
    assert any(
        len(set().union(*some)) == len(wrong) for some in combinations(told, min(most, len(told)))
    )


def _outcome(function, call):
    try:
        return repr(function(*fresh(call)))
    except (IndexError, TypeError):
        return None


@pytest.mark.parametrize("one", ALL)
def test_a_random_input_tells_hardly_any(one):
    rng = np.random.default_rng(4)
    told = tried = 0
    for numbers in at_the_ends(one):
        right = native(one.program(numbers), one.name)
        wrong = [native(one.program(numbers, n), one.name) for n in range(len(one.changes))]
        for _ in range(100):
            call = [drawn(rng, bound) for bound in one.args.values()]
            wanted = right(*fresh(call))
            told += sum(mutant(*fresh(call)) != wanted for mutant in wrong)
            tried += len(wrong)
    # Seven inputs may be given at most.
    assert told / tried < 0.01


def placed(rng, bound, numbers):
    """A value within a bound that is made of `numbers`; zero where none of them fits."""
    if bound["kind"] == "bool":
        return bool(rng.integers(2))
    low, high = bound["low"], bound["high"]
    if bound["kind"] == "int":
        fit = [number for number in numbers if low <= number <= high]
        return fit[int(rng.integers(len(fit)))] if fit else 0
    count = int(rng.integers(low, high + 1))
    if rng.integers(4) == 0:
        return [placed(rng, bound["of"], numbers)] * count
    return [placed(rng, bound["of"], numbers) for _ in range(count)]


@pytest.mark.parametrize("one", ALL)
@pytest.mark.parametrize("beside", [(0,), (0, 1, -1)])
def test_the_numbers_of_the_program_tell_hardly_any(one, beside):
    rng = np.random.default_rng(6)
    told = tried = 0
    for _ in range(4):
        numbers = numbers_of(one, rng)
        program = one.program(numbers)
        own = [sign * int(text) for text in re.findall(r"\b\d+\b", program) for sign in (1, -1)]
        near = sorted({number + step for number in own for step in beside})
        right = native(program, one.name)
        wrong = [native(one.program(numbers, n), one.name) for n in range(len(one.changes))]
        for _ in range(30):
            call = [placed(rng, bound, near) for bound in one.args.values()]
            wanted = _outcome(right, call)
            told += sum(_outcome(mutant, call) != wanted for mutant in wrong)
            tried += len(wrong)
    assert told / tried < 0.006


def test_no_number_is_left_a_word():
    rng = np.random.default_rng(3)
    for level in LEVELS.values():
        for one in level:
            program = one.program(numbers_of(one, rng))
            words = {*one.draws, *one.computed}
            assert words.isdisjoint(re.findall(r"\w+", program)), program


def test_bounds_are_said_in_words():
    env = verigym.make("code/tests")
    for seed in range(100):
        task = env.sample_task(seed, "hard")
        if task.reference["function"] == "covered":
            break
    assert (
        "a list of 0 to 6 items, each a list of 2 to 2 items, each a whole number from -5000 to 5000"
        in task.prompt
    )


def test_fewer_inputs_earn_less():
    env = verigym.make("code/tests")
    env.reset(seed=4, options={"difficulty": "hard"})
    calls = json.loads(env.oracle().split("\n")[1])
    _, reward, over, _, info = env.step(json.dumps(calls[:1]))
    assert over
    assert 0.0 < reward < 1.0
    assert info["valid_action"]
