"""Systems of `code/stdio`: two ways to the answers agree, each rule matters, and the programs are quick."""

import numpy as np
import pytest

from tests.envs.code import step_by_step
from verigym.envs.code.boughs import Boughs
from verigym.envs.code.scrolls import Scrolls
from verigym.envs.code.works import Works

SYSTEMS = [pytest.param(one(), id=one.name) for one in (Scrolls, Works, Boughs)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_goes_through_everything_gives_the_same(system):
    rng = np.random.default_rng(1)
    plain = getattr(step_by_step, system.function)
    seen = set()
    for _ in range(60):
        p = system.draw(rng)
        for size in (3, 4, 5):
            lines = system.lines(rng, p, size)
            answers = system.answers(p, lines)
            assert answers == plain(p, lines), (p, lines)
            seen.update(answers)
    assert len(seen) > 40


def is_comparable(p, name, value):
    """Return True for a value of another draw that makes sense in this one and is another one."""
    words = [str(one).split() for one in (p[name], value)]
    if name in ("mark", "pattern", "pick"):
        return p[name] != value and set(str(value)) <= set(str(p["letters"]))
    if name in ("day", "open"):
        return p[name] != value and {**p, name: value}["open"] < {**p, name: value}["day"]
    return p[name] != value and len(words[0]) == len(words[1])


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_drawn_value_changes_answers(system):
    """Another order, gain or width gives other answers in the tests of a task: no rule may be left out."""
    rng = np.random.default_rng(2)
    same = changed = 0
    for _ in range(40):
        p, other = system.draw(rng), system.draw(rng)
        inputs = [system.lines(rng, p, size) for size in system.hidden_sizes]
        for name in set(p) & set(other) - {"asked", "letters"}:
            if not is_comparable(p, name, other[name]):
                continue
            is_same = all(
                system.answers(p, lines) == system.answers({**p, name: other[name]}, lines)
                for lines in inputs
            )
            same += is_same
            changed += not is_same
    assert changed > 30
    # A start may be forgotten on the way.
    assert same < 0.12 * changed


def largest_text(lines):
    made = sum(line.split()[0] in MAKES for line in lines)
    return [
        *(line for line in lines if line.split()[0] in MAKES),
        *(f"length {i + 1}" for i in range(made)),
    ]


MAKES = ("word", "join", "times", "mirror", "turn", "cut", "squeeze", "spell")


def test_large_inputs_are_out_of_reach_of_going_through_everything():
    rng = np.random.default_rng(3)
    longest = []
    for _ in range(20):
        p = Scrolls().draw(rng)
        sizes = Scrolls().answers(p, largest_text(Scrolls().lines(rng, p, 40)))
        assert max(map(int, sizes)) <= 10**18
        longest.append(max(map(int, sizes)))
        last = [
            int(line.split()[-1])
            for line in Works().lines(rng, Works().draw(rng), 40)
            if line.split()[0] in ("made", "worth", "last", "both")
        ]
        assert max(last) >= 10**13
        drawn = Boughs().draw(rng)
        words = [line.split() for line in Boughs().lines(rng, drawn, 40)]
        wide = [
            int(drawn["width"]) ** int(levels)
            for name, _, levels, *_ in (one for one in words if len(one) > 3)
            if name in ("count", "within", "nth")
        ]
        assert max(wide) > 10**8
    # What is longest may be spelt away; nearly all tasks have several large tests.
    assert sum(one > 10**9 for one in longest) >= 17
