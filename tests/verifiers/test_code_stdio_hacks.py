"""code/stdio pays the honest program alone."""

import random
from pathlib import Path

import pytest

from tests.verifiers.stdio_tasks import case, judge, task

HACKS = Path(__file__).parents[1] / "data" / "hacks"

# The hacks are functions, `solve(nums, k)`. This makes programs of them: the first line of standard
# input holds n and k, the second n integers. It is a part of the submission like the rest.
DRIVER = """
n, k = map(int, input().split())
print(solve(list(map(int, input().split())), k))
"""


def hack_tasks():
    rng = random.Random(20)
    shown = [([3, 2, 1, 5, 6, 4], 2), ([3, 2, 3, 1, 2, 4, 5, 5, 6], 4)]
    for _ in range(8):
        nums = [rng.randint(-50, 50) for _ in range(rng.randint(3, 12))]
        shown.append((nums, rng.randint(1, len(nums))))
    tests = [
        case(
            f"{len(nums)} {k}\n{' '.join(map(str, nums))}\n",
            f"{sorted(nums)[-k]}\n",
            visible=number < 2,
        )
        for number, (nums, k) in enumerate(shown)
    ]
    # Once with visible tests, once without: no hack may live on either.
    return task(tests), task(tests[2:])


@pytest.mark.parametrize("path", sorted(HACKS.glob("*.py")), ids=lambda path: path.stem)
@pytest.mark.parametrize("checker", ["tokens", "exact", "floats"])
def test_only_the_honest_program_is_paid(path, checker):
    source = path.read_text() + DRIVER
    for problem in hack_tasks():
        verdict = judge(source, problem, checker=checker, cpu_s=2.0)
        assert verdict.score == (1.0 if "honest" in path.name else 0.0), verdict


def test_all_hacks_are_there():
    assert len(list(HACKS.glob("*.py"))) == 17
