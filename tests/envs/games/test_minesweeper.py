"""Minesweeper: what opens and what is proved free, beside a slow reckoning of both."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym.envs.games.minesweeper_proofs import proved
from verigym.verifiers.games.minesweeper import (
    GAP,
    MAX_SIDE,
    MinesweeperRules,
    field_of,
    opened_from,
)

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


def digit(at):
    return 1 << 4 * (at // SIDE * (SIDE + GAP) + at % SIDE)


def as_number(cells):
    return sum(map(digit, cells))


def as_set(number):
    found = {at for at in range(CELLS) if number & digit(at)}
    assert as_number(found) == number  # no stray digits between the rows
    return found


sides = st.sampled_from([1, 2, 5, MAX_SIDE])


@given(sides, sides, st.sampled_from([0.0, 0.1, 0.5]), st.randoms(use_true_random=False))
def test_fields_of_any_size_are_shown_cell_by_cell(height, width, share, random):
    places = list(itertools.product(range(height), range(width)))
    first = random.choice(places)
    mines = {place for place in places if random.random() < share} - {first}
    rows = ["".join(".*"[(r, c) in mines] for c in range(width)) for r in range(height)]
    rules, env = MinesweeperRules(), verigym.make("minesweeper")
    board = rules.start({"rows": " ".join(rows), "first": f"{first[0] + 1} {first[1] + 1}"})
    for place in random.choices(places, k=3):
        if rules.legal(board, place):
            board = rules.apply(board, place)

    def sign(r, c):
        if not board.cells >> 4 * (r * (width + GAP) + c) & 1:
            return "#"
        near = itertools.product((r - 1, r, r + 1), (c - 1, c, c + 1))
        return "*" if (r, c) in mines else str(len(mines.intersection(near)))

    signs = {place: sign(*place) for place in places}
    lines = [" ".join(signs[r, c] for c in range(width)) for r in range(height)]
    assert env.show(board) == "\n".join(lines)
    assert env.moves(board) == [f"{r + 1} {c + 1}" for r, c in places if signs[r, c] == "#"]


@given(fields())
def test_what_opens_is_what_opens_one_by_one(drawn):
    mines, first = drawn
    field = field_of(SIDE, SIDE, as_number(mines))
    numbers = [field.numbers // digit(at) % 16 for at in range(CELLS)]
    assert numbers == [len(neighbours(at) & mines) for at in range(CELLS)]
    assert as_set(opened_from(field, 0, digit(first))) == opened_slowly(mines, first)


@settings(max_examples=30)
@given(fields())
def test_what_is_proved_is_so_in_every_field_with_these_numbers(drawn):
    mines, first = drawn
    field = field_of(SIDE, SIDE, as_number(mines))
    cells = opened_slowly(mines, first)
    hidden = sorted(set(range(CELLS)) - cells)
    possible = [
        set(some)
        for some in itertools.combinations(hidden, len(mines))
        if all(len(neighbours(at) & mines) == len(neighbours(at) & set(some)) for at in cells)
    ]
    assert mines in possible
    free = {at for at in hidden if not any(at in some for some in possible)}
    safe, known = map(as_set, proved(field, as_number(cells), 0))
    assert safe <= free
    assert known <= set.intersection(*possible)


def test_no_field_needs_a_guess():
    env = verigym.make("minesweeper")
    for difficulty in env.difficulties:
        for seed in range(10):
            env.reset(seed=seed, options={"difficulty": difficulty})
            board = env.state.board
            while board.cells != board.field.free:
                safe, _ = proved(board.field, board.cells, 0)
                assert safe
                assert not safe & board.field.mines
                move = env.rules.read(env.best(board))
                board = env.rules.apply(board, move)


def test_the_sizes_and_the_number_of_mines_are_as_promised():
    env = verigym.make("minesweeper")
    for difficulty, (height, width, count) in {"easy": (5, 5, 4), "hard": (9, 9, 16)}.items():
        for seed in range(5):
            rows = env.sample_task(seed, difficulty).reference["rows"].split()
            assert (len(rows), len(rows[0]), "".join(rows).count("*")) == (height, width, count)
