"""Programs that Python itself runs: their results, and the number of their steps."""

import pytest

from verigym.envs.code.executed import Execution
from verigym.verifiers.code.counted.state import OutOfSteps


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("return 1", 1),
        ("return n", 1),
        ("return n + 1", 2),
        ("return n * n + f(0) if n else 0", 1 + 1 + 3 + 1 + 1),  # the call, too, has an expression
        ("return [n, n][::2]", 3),
        ("n += 1\n    return n", 2),
        ("xs = [n]\n    xs[0] = 2\n    xs.append(3)\n    return xs", 6),
        ("for i in range(n):\n        pass\n    return f'{n + 1} {n}'", 2 + 3 + 3),
        ("try:\n        raise ValueError\n    except ValueError:\n        return 0", 3),
    ],
)
def test_statements_and_expressions_count_but_for_names_and_constants(body, steps):
    execution = Execution(f"def f(n):\n    {body}\n")
    execution.call("f", 3)
    assert execution.steps == steps + 1  # the definition


def test_parts_have_names_of_their_own_and_begin_anew_with_each_call():
    part = "kept = []\n\ndef add(x):\n    kept.append(x * SCALE)\n    return len(kept)\n"
    other = part.replace("add", "more")
    run = "def run(x):\n    return add(x), more(x), add(x)\n"
    execution = Execution(run, [(part, {"SCALE": 3}), (other, {"SCALE": 2})])
    assert execution.call("run", 5) == (1, 1, 2)
    steps = execution.steps
    assert execution.call("run", 5) == (1, 1, 2)
    assert execution.steps == steps


def test_a_program_that_goes_on_is_stopped_and_its_last_blocks_run():
    source = (
        "def run(seen):\n    try:\n        while True:\n            seen.append(1)\n"
        "    finally:\n        seen.append(0)\n"
    )
    execution, seen = Execution(source, most_steps=100), []
    with pytest.raises(OutOfSteps, match="more than 100 steps"):
        execution.call("run", seen)
    assert seen[-1] == 0
    assert 0 < len(seen) < 100


def test_a_failure_of_the_program_is_raised():
    with pytest.raises(ZeroDivisionError):
        Execution("def f(n):\n    return 1 // n\n").call("f", 0)
