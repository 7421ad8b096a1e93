"""Games at levels beyond those that have names."""

import itertools

import pytest

import verigym
from verigym.envs.check.subject import plan
from verigym.envs.games.keydoor import _known
from verigym.envs.games.lights import _presses
from verigym.envs.games.sudoku import _reasoned
from verigym.verifiers.games.keydoor import KeydoorLevel
from verigym.verifiers.games.rules import RULES
from verigym.verifiers.games.sudoku import units

OFF = ("...", "...", "...")


def test_the_fewest_presses_are_found():
    lights = RULES["lights"]
    for cells in itertools.combinations(range(9), 3):
        board = OFF
        for cell in cells:
            board = lights.apply(board, divmod(cell, 3))
        # On three rows, each set of presses gives another board.
        assert _presses(board) == [divmod(cell, 3) for cell in cells]


def test_a_board_that_cannot_be_turned_off_has_no_presses():
    assert _presses(("#...", "....", "....", "....")) == []


@pytest.mark.parametrize("level", [6, 7])
def test_large_sudokus_are_solved_by_what_is_forced(level):
    env = verigym.make("games/sudoku", difficulty=level)
    shown, _ = env.reset(seed=1)
    board = env.state.board
    numbers, operations = _reasoned(board.given, board.box)
    assert all(len({numbers[i] for i in unit}) == len(unit) for unit in units(*board.box))
    assert all(given in (0, number) for given, number in zip(board.given, numbers, strict=True))
    assert operations > 693
    side = board.box[0] * board.box[1]
    lines = env.observe(env.state).splitlines()
    assert [len(line.split()) for line in lines] == [side] * side
    assert f"1 to {side} once" in shown


def test_a_move_that_was_found_on_a_longer_way_is_the_same():
    env = verigym.make("games/keydoor", difficulty=7)
    env.reset(seed=5)
    level, seen = env.state.level, []
    while not env.state.level.at_goal(env.state.place):
        seen.append((env.state, env.oracle()))
        env.step(seen[-1][1])
    for state, move in seen[1::9]:
        _known(level).clear()
        assert env.solve(state) == move


def test_an_arrow_is_entered_in_its_direction_alone():
    level = KeydoorLevel(("@→.", ".↑*"))
    right = level.move(level.start, "right")
    assert (right.row, right.column) == (0, 1)
    back = level.move(level.move(right, "right"), "left")
    assert (back.row, back.column) == (0, 2)  # the arrow points the other way
    below = level.move(level.start, "down")
    assert level.move(below, "right") == below
    assert level.shortest(level.start) == ["right", "right", "down"]


def test_no_move_more_than_the_fewest_is_paid_on_the_hardest_keydoor():
    env = verigym.make("games/keydoor", difficulty=10)
    env.reset(seed=2)
    start, moves, over = env.snapshot(), [], False
    while not over:
        moves.append(env.oracle())
        _, reward, over, _, _ = env.step(moves[-1])
    assert reward == 1.0
    assert len(moves) == env.task.reference["max_moves"] < env.turns_allowed(env.task)
    env.restore(start)
    for move in ["up", "down", "left", "right"]:  # the way back is found, but too late
        _, reward, over, _, _ = env.step(move)
    while not over:
        _, reward, over, _, _ = env.step(env.oracle())
    assert len(env.state.moves) > len(moves)
    assert reward == 0.0


def test_the_last_board_is_shown_like_those_before_it():
    env = verigym.make("games/sudoku", difficulty=7)
    for seed in range(8):
        env.reset(seed=seed)
        plan(env)
        *board, end = env.view().split("\n")
        assert end == "The task is over: you solved it."
        assert len({len(row) for row in board}) == 1, board
