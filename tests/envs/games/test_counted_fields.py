"""Minesweeper at levels 8 to 10: numbers and proofs, beside all mines that are possible in small fields."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verigym
from verigym.envs.games.counted_fields import SIZES, prove
from verigym.envs.games.minesweeper_pairs import prove_by_pairs
from verigym.envs.games.minesweeper_systems import eliminate_by_terms, system_of
from verigym.errors import TaskError
from verigym.verifiers.games.minesweeper import GAP, MinesweeperRules

HEIGHT, WIDTH = 3, 4
PLACES = list(itertools.product(range(HEIGHT), range(WIDTH)))
OFFSETS = [
    (down, right) for down in (-1, 0, 1) for right in (-1, 0, 1, 2) if (down, right) != (0, 0)
]


@st.composite
def references(draw, moduli=(0, 2, 3, 5)):
    mines = draw(st.sets(st.sampled_from(PLACES), min_size=1, max_size=5))
    free = sorted(set(PLACES) - mines)
    opened = draw(st.sets(st.sampled_from(free), max_size=len(free) - 1))
    signs = {**dict.fromkeys(mines, "*"), **dict.fromkeys(opened, "o")}
    return {
        "rows": ["".join(signs.get((r, c), ".") for c in range(WIDTH)) for r in range(HEIGHT)],
        "counted": [
            list(one)
            for one in draw(st.lists(st.sampled_from(OFFSETS), min_size=1, max_size=6, unique=True))
        ],
        "wrapped": draw(st.booleans()),
        "modulus": draw(st.sampled_from(moduli)),
    }


def places_of(reference, sign):
    return {(r, c) for r, c in PLACES if reference["rows"][r][c] == sign}


def number(reference, place, mines):
    count = 0
    for down, right in reference["counted"]:
        r, c = place[0] + down, place[1] + right
        if reference["wrapped"]:
            r, c = (r + HEIGHT) % HEIGHT, (c + WIDTH) % WIDTH
        count += (r, c) in mines
    return count % reference["modulus"] if reference["modulus"] else count


def as_set(digits):
    return {(r, c) for r, c in PLACES if digits >> 4 * (r * (WIDTH + GAP) + c) & 1}


def possible_mines(reference, sizes):
    """All sets of mines, of those sizes, with the numbers that are open."""
    mines, opened = places_of(reference, "*"), places_of(reference, "o")
    shown = {place: number(reference, place, mines) for place in opened}
    return [
        set(some)
        for size in sizes
        for some in itertools.combinations(sorted(set(PLACES) - opened), size)
        if all(number(reference, place, set(some)) == n for place, n in shown.items())
    ]


@given(references())
def test_numbers_count_the_cells_of_the_shape(reference):
    env = verigym.make("games/minesweeper")
    board = MinesweeperRules().start(reference)
    mines, opened = places_of(reference, "*"), places_of(reference, "o")
    lines = [line.split() for line in env.show(board).splitlines()]
    for r, c in PLACES:
        sign = str(number(reference, (r, c), mines)) if (r, c) in opened else "#"
        assert lines[r][c] == sign


@settings(max_examples=150)
@given(references(moduli=(0, 2, 3)))
def test_what_is_proved_holds_for_all_mines_that_are_possible(reference):
    board = MinesweeperRules().start(reference)
    possible = possible_mines(reference, [len(places_of(reference, "*"))])
    assert places_of(reference, "*") in possible
    mines = set.intersection(*possible)
    free = set(PLACES) - places_of(reference, "o") - set.union(*possible)
    found = prove_by_pairs(board.field, board.cells)
    assert as_set(found.free) <= free
    assert as_set(found.mines) <= mines
    if reference["modulus"]:
        system = system_of(board.field, board.cells)
        assert as_set(system.free) <= free
        assert as_set(system.mines) <= mines


@settings(max_examples=100)
@given(references(moduli=(2,)))
def test_elimination_finds_all_that_parities_prove(reference):
    board = MinesweeperRules().start(reference)
    odd = len(places_of(reference, "*")) % 2
    possible = possible_mines(reference, range(odd, len(PLACES) + 1, 2))
    system = system_of(board.field, board.cells)
    assert as_set(system.mines) == set.intersection(*possible)
    assert as_set(system.free) == set(PLACES) - places_of(reference, "o") - set.union(*possible)


@given(references(moduli=(2, 3)))
def test_elimination_by_terms_proves_the_same(reference):
    board = MinesweeperRules().start(reference)
    places, _ = eliminate_by_terms(board.field, board.cells)
    proved = {divmod(place, WIDTH + GAP) for place in places}
    free = as_set(system_of(board.field, board.cells).free)
    assert proved == free if reference["modulus"] == 2 else proved <= free


@pytest.mark.parametrize("level", [8, 9, 10])
def test_no_field_needs_a_guess_and_remainders_need_elimination(level):
    env = verigym.make("games/minesweeper", difficulty=level)
    for seed in range(8):
        env.reset(seed=seed)
        board, size = env.state.board, SIZES[level]
        assert board.field.mines.bit_count() == size.mines
        by_pairs = start = board.cells
        while board.cells != board.field.free:
            free = prove(board.field, board.cells)
            assert free
            assert not free & board.field.mines
            after = env.rules.apply(board, env.rules.read(env.best(board)))
            assert (after.cells ^ board.cells).bit_count() == 1  # nothing opens by itself
            board = after
        while free := prove_by_pairs(board.field, by_pairs).free:
            by_pairs |= free
        share = (by_pairs & ~start).bit_count() / (board.cells & ~start).bit_count()
        assert share <= size.by_pairs


@pytest.mark.parametrize("level", [8, 9, 10])
def test_the_prompt_shows_the_shape_and_an_example_of_it(level):
    env = verigym.make("games/minesweeper", difficulty=level)
    for seed in range(5):
        prompt, _ = env.reset(seed=seed)
        reference = env.task.reference
        side, shape = SIZES[level].side, [tuple(one) for one in reference["counted"]]
        picture = [line.split() for line in prompt.splitlines() if re.fullmatch("[.oX ]+", line)]
        signs = {(r, c): sign for r, line in enumerate(picture) for c, sign in enumerate(line)}
        ((row, column),) = [place for place, sign in signs.items() if sign == "X"]
        assert sorted(
            (r - row, c - column) for (r, c), sign in signs.items() if sign == "o"
        ) == sorted(shape)
        stated = re.search(r"row (\d+), column (\d+) counts ([^.]+)\.", prompt)
        row, column = int(stated[1]), int(stated[2])
        cells = [(row + down, column + right) for down, right in shape]
        if reference["wrapped"]:
            cells = [((r + side - 1) % side + 1, (c + side - 1) % side + 1) for r, c in cells]
        cells = [cell for cell in cells if min(cell) > 0]
        said = [tuple(map(int, one)) for one in re.findall(r"\((\d+), (\d+)\)", stated[3])]
        assert sorted(said) == sorted(cells)


def test_a_wrong_or_late_cell_of_a_drawn_shape_earns_nothing():
    env = verigym.make("games/minesweeper", difficulty=10)
    env.reset(seed=1)
    field, moves = env.state.board.field, []
    while env.state.board.cells != field.free:
        moves.append(env.oracle())
        env.step(moves[-1])
    assert env.verifier.verify(env.task, moves).score == 1
    assert env.verifier.verify(env.task, moves[:-1]).score == 0
    mine = next(
        f"{r + 1} {c + 1}"
        for r in range(field.height)
        for c in range(field.width)
        if field.mines >> 4 * (r * (field.width + GAP) + c) & 1
    )
    assert env.verifier.verify(env.task, [*moves[:-1], mine, moves[-1]]).score == 0


@pytest.mark.parametrize(
    "change",
    [
        {"counted": []},
        {"counted": "knight"},
        {"counted": [[0, 0]]},
        {"counted": [[0, 1], [0, 1]]},
        {"counted": [[0, 1], [0, -2]]},  # the same cell around the edge
        {"counted": [[0, 1, 2]]},
        {"counted": [[0, True]]},
        {"counted": [[3, 0]]},
        {"counted": [[0, 3]]},
        {"wrapped": 1},
        {"modulus": 1},
        {"modulus": 10},
        {"modulus": True},
        {"first": [1, 1]},
        {"counted": None},
        {"rows": ["o.*", "..x", "..."]},
        {"rows": ["o.*", "..", "..."]},
        {"rows": ["o.*", "...", "..."], "counted": None, "first": [1, 1]},
    ],
)
def test_wrong_references_are_the_author_s_error(change):
    reference = {"rows": ["o.*", "...", "..."], "counted": [[0, 1], [1, 1]], "wrapped": True}
    assert MinesweeperRules().start({**reference, "modulus": 2})
    with pytest.raises(TaskError):
        MinesweeperRules().start({**reference, "modulus": 2, **change})


def test_numbers_of_more_than_one_digit_are_refused_and_their_remainders_are_not():
    rows = ["o" + "." * 6, *["." * 7] * 5, "." * 6 + "*"]
    shape = [[down, right] for down in (1, 2) for right in range(5)]
    reference = {"rows": rows, "counted": shape}
    assert MinesweeperRules().start({**reference, "modulus": 3})
    with pytest.raises(TaskError, match="at most 9"):
        MinesweeperRules().start(reference)
