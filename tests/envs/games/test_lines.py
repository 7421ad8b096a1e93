"""Tic-tac-toe by drawn rules: the solver against all play on plain cells, lines, the opponent, starts and essences."""

import random
from functools import cache

import numpy as np
import pytest

import verigym
from verigym.envs.games.line_starts import (
    LineRules,
    count_search,
    essence_of,
    lines_of,
    narrow_turns,
)
from verigym.errors import TaskError
from verigym.verifiers.games.drawn_lines import good_moves, played, start_of
from verigym.verifiers.games.rules import RULES

FLAGS = ("wild", "misere", "falls")


def games(count):
    """References on boards of 3 by 3 and 3 by 4 with at most 7 free cells."""
    rng = random.Random(3)
    made = 0
    while made < count:
        width, height = rng.choice([(3, 3), (4, 3), (3, 4)])
        cells = width * height
        lines = {frozenset(rng.sample(range(cells), 3)) for _ in range(rng.choice([5, 9]))}
        flags = {flag: rng.random() < 0.5 for flag in FLAGS}
        board = ["."] * cells
        for number, cell in enumerate(rng.sample(range(cells), cells - 6)):
            board[cell] = "XO#"[min(number, 2)] if number < 3 else "XO"[number % 2]
        if any(len({board[i] for i in line}) == 1 and board[min(line)] in "XO" for line in lines):
            continue
        blocked = {i for i, cell in enumerate(board) if cell == "#"}
        lines = [sorted(i + 1 for i in line) for line in lines if not line & blocked]
        if lines and open_to(board, width, flags["falls"]):
            made += 1
            yield {"board": "".join(board), "width": width, "lines": lines, "seed": made, **flags}


def open_to(board, width, falls):
    return [
        i
        for i, cell in enumerate(board)
        if cell == "." and (not falls or i + width >= len(board) or board[i + width] != ".")
    ]


def values(reference):
    """Return the value of each move of X, by all play."""
    lines = [[i - 1 for i in line] for line in reference["lines"]]
    width, falls = reference["width"], reference["falls"]

    def moves(board, player):
        signs = "XO" if reference["wild"] else player
        return [(i, sign) for i in open_to(board, width, falls) for sign in signs]

    def after(board, move, player):
        cell, sign = move
        board = board[:cell] + sign + board[cell + 1 :]
        if any(all(board[i] == sign for i in line) for line in lines):
            return -1 if reference["misere"] else 1
        return -value(board, "XO"[player == "X"])

    @cache
    def value(board, player):
        return max((after(board, move, player) for move in moves(board, player)), default=0)

    board = reference["board"]
    return {move: after(board, move, "X") for move in moves(board, "X")}, value


@pytest.mark.parametrize("goal", ["win", "draw"])
def test_good_moves_agree_with_all_play(goal):
    seen = set()
    for reference in games(250):
        state = start_of({**reference, "goal": goal})
        found, value = values(reference)
        wanted = [move for move, worth in found.items() if worth >= state.goal]
        plain = [(cell, sign or "X") for cell, sign in good_moves(state)]
        assert plain == wanted
        assert count_search(state) >= 1
        seen.add((tuple(reference[flag] for flag in FLAGS), max(found.values())))
        # An opponent that never errs leaves the value as it is.
        move = (list(good_moves(state)) or [(next(iter(found))[0], "X" * reference["wild"])])[0]
        worth = found[move[0], move[1] or "X"]
        after = played(state, move)
        if after.over:
            assert {"won": 1, "drawn": 0, "lost": -1}[after.over] == worth
        else:
            board = "".join(
                "X"
                if after.x >> i & 1
                else "O"
                if after.o >> i & 1
                else "#"
                if cell == "#"
                else "."
                for i, cell in enumerate(reference["board"])
            )
            assert value(board, "X") == worth
    assert len(seen) >= 16


def test_a_pattern_lies_everywhere_on_the_board():
    corner = LineRules(4, 3, (((0, 0), (0, 1), (1, 0)),), False, frozenset())
    assert len(lines_of(corner, 0)) == 3 * 2
    assert len(lines_of(corner, 1)) == 3 * 2 - 1
    joined = LineRules(4, 3, corner.patterns, False, frozenset({"joined"}))
    assert len(lines_of(joined, 0)) == 4 * 3
    turned = LineRules(4, 3, corner.patterns, True, frozenset())
    assert len(lines_of(turned, 0)) == 4 * 3 * 2


def test_a_turned_or_mirrored_start_has_the_same_essence():
    rng = np.random.default_rng(1)
    for twists in (frozenset(), frozenset({"wild"}), frozenset({"joined"})):
        rules = LineRules(4, 3, (((0, 0), (0, 1), (1, 2)),), True, twists)
        lines = lines_of(rules, 0)
        board = "".join(rng.choice(list(".XO"), 12))
        rows = [board[i : i + 4] for i in range(0, 12, 4)]
        forms = [
            "".join(row[::-1] for row in rows),
            "".join(rows[::-1]),
            board[::-1],
        ]
        essence = essence_of(rules, lines, board)
        assert all(essence_of(rules, lines, form) == essence for form in forms)
        turned = LineRules(3, 4, rules.patterns, True, twists)
        across = "".join("".join(column) for column in zip(*rows, strict=True))
        assert essence_of(turned, lines_of(turned, 0), across) == essence
        swapped = board.translate(str.maketrans("XO", "OX"))
        assert (essence_of(rules, lines, swapped) == essence) == ("wild" in twists)
    falls = LineRules(4, 3, (((0, 0), (0, 1), (1, 2)),), True, frozenset({"falls"}))
    lines = lines_of(falls, 0)
    assert essence_of(falls, lines, board) != essence_of(falls, lines, "".join(rows[::-1]))
    assert essence_of(falls, lines, board) == essence_of(falls, lines, forms[0])


@pytest.mark.parametrize("level", [7, 8, 9, 10])
def test_one_move_keeps_the_goal_and_another_does_not(level):
    env = verigym.make("games/tic-tac-toe", difficulty=level)
    for seed in range(2):
        prompt, _ = env.reset(seed=seed)
        state = env.state.board
        assert len(good_moves(state)) == 1
        assert narrow_turns(state) >= 2
        assert "never makes a mistake" in prompt
        assert f"Whoever completes a line {'loses' if state.game.misere else 'wins'}" in prompt
        right = env.oracle()
        other = next(move for move in env.legal_actions(env.state) if move != right)
        snapshot = env.snapshot()
        for first, wanted in ((right, 1.0), (other, 0.0)):
            env.restore(snapshot)
            _, reward, over, _, _ = env.step(first)
            while not over:
                good = good_moves(env.state.board)
                assert bool(good) == (wanted == 1.0)
                move = f"{good[0][1]}{good[0][0] + 1}" if good else env.legal_actions(env.state)[0]
                _, reward, over, _, _ = env.step(move)
            assert reward == wanted


def test_a_sign_is_given_in_a_wild_game_alone():
    rules = RULES["tic-tac-toe"]
    reference = {"board": "." * 9, "width": 3, "lines": [[1, 2, 3]], "seed": 1}
    reference["opponent"] = "perfect"
    own, wild = rules.start(reference), rules.start({**reference, "wild": True})
    assert (rules.read("7"), rules.read("X7"), rules.read("O7")) == (6, (6, "X"), (6, "O"))
    assert (rules.legal(own, 6), rules.legal(own, (6, "X"))) == (True, False)
    assert (rules.legal(wild, 6), rules.legal(wild, (6, "O"))) == (False, True)
    plain = rules.start({"board": "." * 9, "opponent": "perfect", "seed": 1})
    assert (rules.legal(plain, 8), rules.legal(plain, 9), rules.legal(plain, (6, "X"))) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"board": "XXX......"},
        {"board": "?........"},
        {"board": "XOXOXOXOX"},
        {"width": 4},
        {"lines": []},
        {"lines": [[1]]},
        {"lines": [[1, 1]]},
        {"lines": [[1, 10]]},
        {"wild": 1},
        {"goal": "lose"},
        {"opponent": "random"},
        {"seed": None},
    ],
)
def test_other_references_are_refused(change):
    reference = {"board": "." * 9, "width": 3, "lines": [[1, 2, 3]], "seed": 1}
    reference["opponent"] = "perfect"
    assert RULES["tic-tac-toe"].start(reference).game.lines == (7,)
    with pytest.raises(TaskError, match="tic-tac-toe"):
        RULES["tic-tac-toe"].start(reference | change)
