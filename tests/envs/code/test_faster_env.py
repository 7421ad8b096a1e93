"""`code/faster`: the fast program gives what the slow one gives, to Python as well, in far fewer steps."""

import json

import numpy as np
import pytest

import verigym
from verigym.envs.code.slow import LEVELS
from verigym.verifiers.code.counted.library import COUNTED
from verigym.verifiers.code.counted.machine import Machine
from verigym.verifiers.code.counted.program import call_named, load

ALL = [pytest.param(one, id=one.name) for level in LEVELS.values() for one in level]


def counted(program, name, calls):
    values, steps = [], 0
    for call in calls:
        playing = Machine(COUNTED, 5_000_000)
        frame = load(playing, program)
        values.append(call_named(playing, frame, name, json.loads(json.dumps(call))))
        steps += playing.meter.used
    return values, steps


def native(program, name, calls):
    space = {}
    exec(program, space)
    return [space[name](*call) for call in json.loads(json.dumps(calls))]


def draw(one, rng):
    numbers = {name: int(rng.integers(low, high + 1)) for name, (low, high) in one.draws.items()}
    return numbers, one.calls(rng, numbers)


@pytest.mark.parametrize("one", ALL)
def test_the_fast_program_gives_the_same(one):
    rng = np.random.default_rng(1)
    for _ in range(12):
        numbers, calls = draw(one, rng)
        slow, fast = (one.program(kind, numbers) for kind in ("slow", "fast"))
        assert native(slow, one.name, calls) == native(fast, one.name, calls)
    values = counted(fast, one.name, calls)[0]
    assert values == native(slow, one.name, calls)
    assert not any(name in slow + fast for name in one.draws)


@pytest.mark.slow
@pytest.mark.parametrize("one", ALL)
def test_there_is_much_to_be_gained(one):
    rng = np.random.default_rng(2)
    for _ in range(3):
        numbers, calls = draw(one, rng)
        slow, fast = (
            counted(one.program(kind, numbers), one.name, calls)[1] for kind in ("slow", "fast")
        )
        assert 5 * fast < slow < 600_000


@pytest.mark.parametrize("one", ALL)
def test_a_table_of_all_values_would_be_long(one):
    rng = np.random.default_rng(3)
    numbers = draw(one, rng)[0]
    # A function of few calls is written as their values, which costs next to nothing: without its edges, 40
    # draws meet few calls twice.
    calls = [json.dumps(call) for _ in range(40) for call in one.calls(rng, numbers)[-2:]]
    assert len(set(calls)) > 60


def test_a_half_way_improvement_earns_a_part():
    env = verigym.make("code/faster")
    seed = next(s for s in range(99) if "pairs_to" in env.sample_task(s).tags)
    env.reset(seed=seed)
    slow = env.task.reference["slow"]
    better = slow.replace("count += 1", "count = count + 1").replace(
        "range(i + 1, len(xs)):\n            if xs[i] +", "range(i):\n            if xs[i] +"
    )
    _, reward, _, _, info = env.step(better)
    assert info["verdict"].reason in ("cheaper", "no_cheaper")
    assert reward < 0.2


def test_full_marks_are_nearer_to_the_best_known_at_the_top():
    env = verigym.make("code/faster")
    for level, within in ((6, 1.5), (7, 1.5), (8, 1.3), (9, 1.2), (10, 1.1)):
        env.reset(seed=2, options={"difficulty": level})
        assert f"for at most {within} times the steps" in env.task.prompt
        assert env.task.reference.get("within", 1.5) == within
        best = env.task.reference["fast"]
        assert env.step(best)[1] == 1.0
    # A little more in each call leaves a part.
    env.reset(seed=2, options={"difficulty": 10})
    more = best.replace(
        "    if name ==", "    name, args = [len([0] * 99), name][1], args\n    if name ==", 1
    )
    more = more.replace("[0] * 99", "[0] * 999")
    assert 0.5 < env.step(more)[1] < 1.0
