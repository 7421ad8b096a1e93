"""Systems of `code/stdio`: two ways to the answers agree, each rule matters, and the programs are quick."""

import numpy as np
import pytest

from tests.envs.code import letter_by_letter, place_by_place, step_by_step
from verigym.envs.code.boughs import Boughs
from verigym.envs.code.filters import draw_machine, fitting_machines, written_by
from verigym.envs.code.grafts import Grafts
from verigym.envs.code.ribbons import Ribbons
from verigym.envs.code.scrolls import Scrolls
from verigym.envs.code.works import Works

SYSTEMS = [pytest.param(one(), id=one.name) for one in (Scrolls, Works, Boughs, Ribbons, Grafts)]
PLAIN = {
    "scrolls": step_by_step.scrolls,
    "works": step_by_step.works,
    "boughs": step_by_step.boughs,
    "ribbons": letter_by_letter.ribbons,
    "grafts": place_by_place.grafts,
}


def is_decided(p, line, answer, expected):
    """False for what lies deeper than the plain way looks, where it must say so."""
    levels = place_by_place.LEVELS[p["width"]]
    name = line.split()[0]
    if name == "alike" and expected == str(levels):
        assert int(answer) >= levels
        return False
    if name == "far" and expected == "none":
        assert answer == "none" or int(answer) >= levels
        return False
    return True


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_goes_through_everything_gives_the_same(system):
    rng = np.random.default_rng(1)
    plain = PLAIN[system.function]
    seen = set()
    for _ in range(60):
        p = system.draw(rng)
        for size in (3, 4, 5):
            lines = system.lines(rng, p, size)
            answers = system.answers(p, lines)
            expected = plain(p, lines)
            assert len(answers) == len(expected)
            if system.name == "grafts":
                asked = [one for one in lines if one.split()[0] in place_by_place.GRAFT_QUESTIONS]
                decided = zip(asked, answers, expected, strict=True)
                pairs = [one[1:] for one in decided if is_decided(p, *one)]
                answers, expected = [one for one, _ in pairs], [one for _, one in pairs]
            assert answers == expected, (p, lines)
            seen.update(answers)
    assert len(seen) > 40


def is_comparable(p, name, value):
    """Return True for a value of another draw that makes sense in this one and is another one."""
    words = [str(one).split() for one in (p[name], value)]
    if name in ("mark", "pattern", "pick"):
        return p[name] != value and set(str(value)) <= set(str(p["letters"]))
    if name in ("samples", "table", "colours"):
        return False
    if name == "deepest" and "alike" not in p["asked"]:
        # A bound of where `far` looks, which hardly anything lies beyond.
        return False
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


def test_long_ribbons_and_wide_trees_are_asked_for():
    rng = np.random.default_rng(4)
    for _ in range(10):
        p = Ribbons().draw(rng)
        lines = Ribbons().lines(rng, p, 40)
        asked = [line for line in lines if line.split()[0] in ("runs", "best", "kinds", "left")]
        assert sum(int(line.split()[3]) > 10**8 for line in asked) >= len(asked) // 2
        drawn = Grafts().draw(rng)
        wide = [
            int(drawn["width"]) ** int(line.split()[2])
            for line in Grafts().lines(rng, drawn, 40)
            if line.split()[0] in ("count", "within", "nth", "runs", "chain", "patches", "twins")
        ]
        assert max(wide) > 10**8


def fitting_the_plain_way(row, states, samples):
    """Tables of next states that fit, found by trying all of them in turn, letter after letter."""
    found = []

    def go(word, at, state, after, written):
        if word == len(samples):
            found.append((dict(after), dict(written)))
            return
        read, out = samples[word]
        if at == len(read):
            go(word + 1, 0, 0, after, written)
            return
        cell = state, read[at]
        if out[at] != "?" and written.get(cell, out[at]) != out[at]:
            return
        told = written if out[at] == "?" else {**written, cell: out[at]}
        known = max([0, *after.values()])
        for then in [after[cell]] if cell in after else range(min(known + 2, states)):
            go(word, at + 1, then, {**after, cell: then}, told)

    go(0, 0, 0, {}, {})
    return found


def test_one_machine_alone_fits_its_samples():
    """The second search takes letters in the order of the samples; machines with three states are as many as it can try."""
    rng = np.random.default_rng(5)
    for _ in range(4):
        told, samples = draw_machine(rng, "ab", 3)
        pairs = [tuple(one.split(">")) for one in samples.split()]
        ((after, written),) = fitting_the_plain_way("ab", 3, pairs)
        cells = [(cell[0], int(cell[1])) for cell in told.split()]
        for _ in range(50):
            word = "".join("ab"[int(n)] for n in rng.integers(2, size=12))
            state, out = 0, ""
            for c in word:
                out += written[state, c]
                state = after[state, c]
            assert out == written_by("ab", cells, word)


@pytest.mark.parametrize("row", ["abcd", "wrbg"])
def test_machines_of_tasks_fit_their_samples_and_take_a_search(row):
    rng = np.random.default_rng(6)
    for _ in range(5):
        told, samples = draw_machine(rng, row, 5)
        pairs = [tuple(one.split(">")) for one in samples.split()]
        cells = [(cell[0], int(cell[1])) for cell in told.split()]
        for read, written in pairs:
            full = written_by(row, cells, read)
            assert all(c in ("?", d) for c, d in zip(written, full, strict=True))
        found = fitting_machines(row, 5, pairs, 10_000)
        assert found.is_over
        assert found.machines == [cells]
        assert found.branches >= 150
