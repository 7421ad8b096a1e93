"""Contest word problems: each story told step by step, and the marbles handed on in both directions."""

import functools
import itertools
import re

import numpy as np
import pytest

from verigym.envs.math.contest import kind as contest
from verigym.envs.math.contest import stories
from verigym.envs.math.contest.stages import STAGES
from verigym.envs.math.paper import Paper

KINDS = {kind.name: kind for kind in stories.KINDS}


def tell(text, x):
    """Return the answer to a story by going through it step by step."""
    n = [int(part) for part in re.findall(r"\d+", text.replace("{x}", ""))]
    if "ants" in text:
        for _ in range(n[1]):
            x += (x * n[0] - x * n[0] % 100) // 100
        return x
    if "account" in text:
        for _ in range(n[2]):
            x += (x * n[0] - x * n[0] % 100) // 100 - n[1]
        return x
    if "bell" in text:
        both = (t for t in itertools.count() if t % n[1] == n[0] and t % n[3] == n[2])
        return next(itertools.islice(both, x - 1, None))
    if "encyclopedia" in text:
        return sum(len(str(page)) for page in range(1, x + 1))
    if "stadium" in text:
        rows = 0
        while x > 0:
            x -= n[0] + n[1] * rows
            rows += 1
        return rows
    if "melons" in text:
        return sum(n[0] * n[1] for _ in range(x)) % n[2]
    if "sheet" in text:
        count, sides = 0, [x, n[0]]
        while all(sides):
            sides = [min(sides), max(sides) - min(sides)]
            count += 1
        return count
    if "calculator" in text:
        for _ in range(n[2]):
            x = (x**2 + n[0]) % n[1]
        return x
    if "circle" in text:
        left = list(range(1, x + 1))
        while len(left) > 1:
            turn = (n[2] - 1) % len(left)
            left = left[turn + 1 :] + left[:turn]
        return left[0]
    if "staircase" in text:
        climb = functools.cache(
            lambda left: sum(map(climb, (left - k for k in n))) if left > 0 else not left
        )
        return climb(x)
    if "club" in text:
        return sum(1 for _ in itertools.combinations(range(x - 1), 2)) * x
    minutes = x / (n[0] / n[1] + n[2] / n[3])
    return int(minutes + 1 - 1e-9)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_stage(stage):
    rng = np.random.default_rng(len(stage.text))
    for place in range(20):
        drawn = stage.draw(rng, 7 + place % 4)
        x = int(rng.integers(stage.low, min(stage.high, 20 * stage.low) + 1))
        text = stage.text.replace("{x}", "{{x}}").format(*drawn)
        if "bell" in text:
            x = min(x, 30)
        assert stage.value(x, *drawn) == stage.work(Paper(), x, *drawn) == tell(text, x)
        assert stage.order(contest.numbers(text.replace("{x}", str(x)))) == [x, *drawn]


@pytest.mark.parametrize("level", [7, 8])
def test_marbles(level):
    for seed in range(6):
        ask = contest.ask((KINDS["told_backwards"],), np.random.default_rng(seed), level)
        ends = {name: int(n) for name, n in re.findall(r"(\w+) has (\d+)", ask.prompt)}
        lines = re.findall(r"^(\w+) gives (\w+) (as many|\d+)", ask.prompt, re.MULTILINE)
        have = dict(ends)
        for giver, taker, what in reversed(lines):
            given = have[taker] // 2 if what == "as many" else have[giver] + int(what)
            have[taker] -= given
            have[giver] += given
        asked = re.findall(r"(\d+) \* (\w+)", ask.prompt)
        assert sum(int(w) * have[name] for w, name in asked) == int(ask.answer)
        for giver, taker, what in lines:
            count = have[taker] if what == "as many" else int(what)
            assert 0 <= count <= have[giver]
            if what != "as many":
                assert (have[giver] - count) % 2 == 0
                count += (have[giver] - count) // 2
            have[giver] -= count
            have[taker] += count
        assert have == ends
