"""Minesweeper: what opens and what is proved free, beside a slow reckoning of both."""

from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym.envs.games.minesweeper import _safe
from verigym.verifiers.games.minesweeper import Field, around, bits, opened_from

SIDE = 4
CELLS = SIDE * SIDE


def neighbours(at):
    r, c = divmod(at, SIDE)
    return {
        i * SIDE + j for i in range(SIDE) for j in range(SIDE) if max(abs(i - r), abs(j - c)) == 1
    }


@st.composite
def fields(draw):
    mines = draw(st.sets(st.integers(0, CELLS - 1), min_size=1, max_size=4))
    first = draw(st.sampled_from(sorted(set(range(CELLS)) - mines)))
    return mines, first


def opened_slowly(mines, first):
    found, waiting = set(), [first]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            if not neighbours(at) & mines:
                waiting += neighbours(at)
    return found


@given(fields())
def test_what_opens_is_what_opens_one_by_one(drawn):
    mines, first = drawn
    field = Field(SIDE, SIDE, sum(1 << at for at in mines))
    assert [set(bits(near)) for near in around(SIDE, SIDE)] == [
        neighbours(at) for at in range(CELLS)
    ]
    assert list(field.numbers) == [len(neighbours(at) & mines) for at in range(CELLS)]
    assert set(bits(opened_from(field, 0, 1 << first))) == opened_slowly(mines, first)


@settings(max_examples=30)
@given(fields())
def test_what_is_proved_free_is_free_in_every_field_with_these_numbers(drawn):
    mines, first = drawn
    field = Field(SIDE, SIDE, sum(1 << at for at in mines))
    cells = opened_from(field, 0, 1 << first)
    hidden = [at for at in range(CELLS) if not cells >> at & 1]
    near = around(SIDE, SIDE)
    told = [(near[at], field.numbers[at]) for at in bits(cells)]
    sets = (sum(1 << hidden[at] for at in bits(some)) for some in range(1 << len(hidden)))
    possible = [
        mask for mask in sets if all((mask & them).bit_count() == count for them, count in told)
    ]
    assert field.mines in possible
    free = {at for at in hidden if not any(mask >> at & 1 for mask in possible)}
    proved = set(bits(_safe(field, cells)))
    assert proved <= free
    if len(possible) == 1:
        assert proved or not free


def test_the_sizes_and_the_number_of_mines_are_as_promised():
    env = verigym.make("minesweeper")
    for difficulty, (height, width, count) in {"easy": (5, 5, 4), "hard": (9, 9, 16)}.items():
        for seed in range(5):
            rows = env.sample_task(seed, difficulty).reference["rows"]
            assert (len(rows), len(rows[0]), "".join(rows).count("*")) == (height, width, count)
