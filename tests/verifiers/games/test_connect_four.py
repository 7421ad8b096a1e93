"""Connect four: bit sets against plain boards, the solver against brute force, opponents and starts."""

import random
from functools import cache

import pytest

import verigym
from verigym.verifiers.games.connect_four import ConnectFourRules, keeps, reply, wins_in
from verigym.verifiers.games.connect_four_boards import bits as single
from verigym.verifiers.games.connect_four_boards import (
    board_of,
    completing,
    four,
    open_cells,
    rows_of,
    safe_cells,
)

LINES = [
    [(row + i * down, column + i * right) for i in range(4)]
    for row in range(6)
    for column in range(7)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    if row + 3 * down < 6 and 0 <= column + 3 * right < 7
]


def has_four(rows, sign):
    return any(all(rows[row][column] == sign for row, column in line) for line in LINES)


def drop(rows, column, sign):
    row = max(row for row in range(6) if rows[row][column] == ".")
    return (*rows[:row], rows[row][:column] + sign + rows[row][column + 1 :], *rows[row + 1 :])


@cache
def forced(rows, sign, other, moves):
    """Brute force over plain boards."""
    if moves == 0:
        return False
    for column in range(7):
        if rows[0][column] != ".":
            continue
        after = drop(rows, column, sign)
        if has_four(after, sign):
            return True
        replies = [drop(after, c, other) for c in range(7) if after[0][c] == "."]
        if (
            replies
            and not any(has_four(r, other) for r in replies)
            and all(forced(r, sign, other, moves - 1) for r in replies)
        ):
            return True
    return False


def positions(count, least, most):
    """Random games without a four, as (rows, bit sets of the side to move and of the other)."""
    rng = random.Random(4)
    found = []
    while len(found) < count:
        rows, signs = ("." * 7,) * 6, "XO"
        for ply in range(rng.randint(least, most)):
            columns = [c for c in range(7) if rows[0][c] == "."]
            rows = drop(rows, rng.choice(columns), signs[ply % 2])
        if not has_four(rows, "X") and not has_four(rows, "O"):
            xs, os = board_of(rows)
            even = sum(row.count(".") for row in rows) % 2 == 0
            found.append((rows, "X" if even else "O", (xs, os) if even else (os, xs)))
    return found


def test_boards_are_read_and_drawn():
    for rows, _, _ in positions(30, 0, 30):
        assert rows_of(board_of(rows)) == list(rows)


def test_positions_are_as_many_as_others_count():
    """The numbers of positions after n moves: OEIS A212693."""
    here, counts = {(0, 0)}, [1]
    for _ in range(6):
        here = {
            (you, me | cell)
            for me, you in here
            if not four(me) and not four(you)
            for cell in single(open_cells(me | you))
        }
        counts.append(len(here))
    assert counts == [1, 7, 49, 238, 1120, 4263, 16422]


def test_cells_that_complete_a_line_are_those_that_do():
    for rows, sign, (me, you) in positions(60, 4, 38):
        cells = {
            (row, column)
            for row in range(6)
            for column in range(7)
            if rows[row][column] == "."
            and has_four(
                (
                    *rows[:row],
                    rows[row][:column] + sign + rows[row][column + 1 :],
                    *rows[row + 1 :],
                ),
                sign,
            )
        }
        told = completing(me, me | you)
        assert {(r, c) for r in range(6) for c in range(7) if told >> 7 * c + 5 - r & 1} == cells


@pytest.mark.slow
@pytest.mark.parametrize("moves", [1, 2, 3])
def test_the_solver_agrees_with_brute_force(moves):
    outcomes = set()
    for rows, sign, (me, you) in positions(60, 8 if moves < 3 else 24, 38):
        known = forced(rows, sign, "XO"[sign == "X"], moves)
        assert wins_in(me, you, moves) == known, rows
        outcomes.add(known)
        at_once = completing(me, me | you) & open_cells(me | you)
        if moves == 2 and not at_once:
            for cell in single(safe_cells(me, you)):
                column = (cell.bit_length() - 1) // 7
                after = drop(rows, column, sign)
                replies = [
                    drop(after, c, "XO"[sign == "X"]) for c in range(7) if after[0][c] == "."
                ]
                held = bool(replies) and all(forced(r, sign, "XO"[sign == "X"], 1) for r in replies)
                assert keeps(me, you, cell, 2) == held
    assert outcomes == {True, False}


@pytest.mark.parametrize("strength", ["random", "greedy", "search"])
def test_opponents_make_legal_moves_and_the_better_ones_take_and_stop_wins(strength):
    for _, _, (me, you) in positions(60, 6, 40):
        both = me | you
        if not open_cells(both):
            continue
        cell = reply(me, you, strength, 3)
        assert cell & open_cells(both)
        if strength == "random":
            continue
        win, stop = (completing(side, both) & open_cells(both) for side in (me, you))
        assert not win or cell & win
        assert win or not stop or cell & stop


def test_starts_are_won_in_the_moves_given_and_in_no_fewer():
    env = verigym.make("games/connect-four-v0")
    for difficulty, moves in (("easy", 2), ("medium", 3)):
        for seed in range(4):
            env.reset(seed=seed, options={"difficulty": difficulty})
            rows = tuple(env.task.reference["rows"])
            assert forced(rows, "X", "O", moves)
            assert not forced(rows, "X", "O", moves - 1)
            assert env.turns_allowed(env.task) == moves


def test_the_middle_column_again_and_again_is_hardly_paid():
    env, paid = verigym.make("games/connect-four-v0"), 0.0
    for seed in range(120):
        env.reset(seed=seed, options={"difficulty": "easy"})
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step("4")
            over = terminated or truncated
            paid += reward
    assert paid <= 18


def test_a_move_too_many_is_not_paid():
    env = verigym.make("games/connect-four-v0")
    env.reset(seed=1)
    rules, state, moves = ConnectFourRules(), env.state.board, []
    rng = random.Random(1)
    # Play on, however long it takes.
    for _ in range(2000):
        if rules.won(state) and len(moves) > 2:
            break
        if rules.won(state) or rules.lost(state):
            state, moves = env.state.board, []
        column = rng.randrange(7)
        if rules.legal(state, column):
            state, moves = rules.apply(state, column), [*moves, str(column + 1)]
    verdict = env.verifier.verify(env.task, moves)
    assert (verdict.score, verdict.reason) == (0.0, "over_budget")


@pytest.mark.parametrize(
    "rows",
    [
        [],
        ["......."] * 5,
        ["......."] * 5 + ["......"],
        ["......."] * 4 + ["X......", "......."],
        ["......."] * 5 + ["XXXX..."],
        ["......."] * 5 + ["X......"],
        ["......."] * 5 + ["Y......"],
    ],
)
def test_boards_that_make_no_sense_are_refused(rows):
    with pytest.raises(verigym.TaskError, match="connect-four"):
        ConnectFourRules().start({"rows": rows, "opponent": "random", "seed": 1})
