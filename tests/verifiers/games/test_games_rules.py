"""The rules of single games: marks of guesses, pushes of tiles, and the environments' own plays."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import verigym
from verigym.envs.games.replayed import ReplayedGame
from verigym.errors import TaskError
from verigym.verifiers.games.guessing import MastermindRules, WordleRules, code_marks, word_marks
from verigym.verifiers.games.merging import MergingRules, pushed, pushes, with_new_tile
from verigym.verifiers.games.rules import RULES

REPLAYED = [
    env_id
    for env_id in sorted(verigym.list_envs())
    if env_id.startswith("verigym/games/") and isinstance(verigym.make(env_id), ReplayedGame)
]


@pytest.mark.parametrize(
    ("secret", "guess", "marks"),
    [
        ("crane", "crane", "+++++"),
        ("crane", "nacre", "????+"),
        ("noon", "onto", "??-?"),
        ("abbey", "babes", "??++-"),
        ("abbey", "kebab", "-?+??"),
        ("speed", "erase", "?--??"),
    ],
)
def test_marks_of_words(secret, guess, marks):
    assert word_marks(secret, guess) == marks


codes = st.text("1234", min_size=4, max_size=4)


@given(codes, codes)
def test_marks_agree_with_each_other(secret, guess):
    marks = word_marks(secret, guess)
    placed, elsewhere = code_marks(secret, guess)
    assert (marks.count("+"), marks.count("?")) == (placed, elsewhere)
    assert placed + elsewhere == sum((Counter(secret) & Counter(guess)).values())
    assert code_marks(guess, secret) == (placed, elsewhere)


@given(codes, st.lists(codes, max_size=40))
def test_guesses_are_kept_once_each_and_in_order(secret, guesses):
    for rules, signs in ((MastermindRules(), "1234"), (WordleRules(), "abcd")):
        word, *words = (text.translate(str.maketrans("1234", signs)) for text in (secret, *guesses))
        state = rules.start({"secret": word, "symbols": 4, "max_moves": 9})
        for guess in words:
            state = rules.apply(state, guess)
        assert state.made == tuple(sorted(set(words)))
        assert rules.won(state) == (word in words)


tiles = st.lists(st.sampled_from([0, 2, 4, 8]), min_size=16, max_size=16).map(tuple)


@given(tiles)
def test_a_push_keeps_the_sum_and_opposite_pushes_mirror(board):
    for move, other in (("left", "right"), ("up", "down")):
        assert sum(pushed(board, move)) == sum(board)
        assert pushed(board[::-1], other)[::-1] == pushed(board, move)
        assert (move in pushes(board)) == (pushed(board, move) != board)
    if 0 in board:
        after = with_new_tile(board, 7)
        assert after == with_new_tile(board, 7)
        assert sum(a != b for a, b in itertools.zip_longest(after, board)) == 1


@given(st.integers(-9, 1 << 40))
def test_a_grid_without_tiles_starts_with_two_new_ones(seed):
    start = MergingRules().start({"target": 64, "seed": seed})
    assert sorted(start.tiles)[:14] == [0] * 14
    assert set(start.tiles) <= {0, 2, 4}
    assert start.tiles.count(0) == 14
    assert start == MergingRules().start({"target": 64, "seed": seed, "tiles": list(start.tiles)})


@pytest.mark.parametrize(
    ("game", "rows", "rest"),
    [
        ("minesweeper", ["..*.", "....", "*..."], {"first": [3, 4]}),
        ("minesweeper", ["."], {"first": "1 1"}),
        ("sudoku", ["1..4", "....", "....", "4..1"], {"box": [2, 2]}),
        ("sudoku", ["1..4", "....", "...."], {"box": [2, 2]}),
        ("minesweeper", ["..*.", "..."], {"first": [2, 1]}),
        ("minesweeper", ["..x.", "...."], {"first": [2, 1]}),
        ("minesweeper", [], {"first": [1, 1]}),
    ],
)
def test_rows_may_be_one_text(game, rows, rest):
    def start(rows):
        try:
            return RULES[game].start({"rows": rows, **rest})
        except TaskError as error:
            return str(error)

    assert start(" ".join(rows)) == start(rows) == start(tuple(rows))


@pytest.mark.parametrize("env_id", REPLAYED)
def test_the_verifier_takes_the_oracle_s_play_as_text_and_nothing_less(env_id):
    env = verigym.make(env_id)
    verifier = verigym.make_verifier("games/replay")
    for seed, difficulty in enumerate(env.difficulties[:2]):
        env.reset(seed=seed, options={"difficulty": difficulty})
        moves, over = [], False
        while not over:
            moves.append(env.oracle())
            _, _, terminated, truncated, _ = env.step(moves[-1])
            over = terminated or truncated
        reply = f"Let me see.\n<answer>{'; '.join(moves)}</answer>"
        assert verifier.verify(env.task, reply).score == 1.0
        assert verifier.verify(env.task, "; ".join(moves[:-1])).score == 0.0
        assert verifier.verify(env.task, "; ".join([*moves, moves[0]])).score == 0.0


LINE = {"cells": [[1, 1], [1, 2]], "kind": "filled", "numbers": [1]}
LINES = {"game": "nonogram", "size": 2, "lines": [LINE]}
REGIONS = {"game": "sudoku", "rows": "1... .... .... ....", "regions": "AABB AABB CCDD CCDD"}


@pytest.mark.parametrize(
    "reference",
    [
        {"game": "sokoban", "rows": ["######", "#@$$.#", "######"]},
        {"game": "sokoban", "rows": ["#$.#"]},
        {"game": "sudoku", "rows": ["11.4", "3412", "2143", "4321"], "box": [2, 2]},
        {"game": "sudoku", "rows": ["1..."], "box": [2, 2]},
        {**REGIONS, "box": [2, 2]},
        {**REGIONS, "regions": "AABB AABB CCDD CCCC"},
        {**REGIONS, "regions": ["A"]},
        {**REGIONS, "regions": 3},
        {**REGIONS, "rows": "11.. .... .... ...."},
        {**REGIONS, "rows": "1..1 .... .... ...."},
        {**REGIONS, "totals": {}},
        {**REGIONS, "totals": [3]},
        {**REGIONS, "totals": [{"plus": [], "minus": [[1, 1]], "least": 1, "most": 2}]},
        {**REGIONS, "totals": [{"plus": [[1, 1], [1, 1]], "least": 1, "most": 2}]},
        {**REGIONS, "totals": [{"plus": [[1, 5]], "least": 1, "most": 2}]},
        {**REGIONS, "totals": [{"plus": [[1, 1]], "least": 3, "most": 2}]},
        {**REGIONS, "totals": [{"plus": [[1, 1]], "least": 1}]},
        {**REGIONS, "totals": [{"plus": [[1, 1]], "least": 0, "most": 1, "modulus": 1}]},
        {**REGIONS, "apart": [{"steps": [], "differences": [0]}]},
        {**REGIONS, "apart": [{"steps": [[0, 0]], "differences": [0]}]},
        {**REGIONS, "apart": [{"steps": [[0, 4]], "differences": [0]}]},
        {**REGIONS, "apart": [{"steps": [[0, 1]]}]},
        {**REGIONS, "apart": [{"steps": [[0, 1]], "differences": [-1]}]},
        {**REGIONS, "apart": [{"steps": [[0, 1]], "sums": [True]}]},
        {**REGIONS, "apart": [{"steps": [[0, 1]], "sums": [3], "joined": 1}]},
        {"game": "sudoku", "rows": ["1...", "....", "....", "...."], "box": [2, 2], "totals": []},
        {"game": "minesweeper", "rows": ["*."], "first": [1, 1]},
        {"game": "minesweeper", "rows": ["..", "."], "first": [1, 1]},
        {"game": "2048", "tiles": [3] * 16, "target": 8, "seed": 1},
        {"game": "wordle", "secret": "Crane", "max_moves": 6},
        {"game": "wordle", "secret": "crane"},
        {"game": "mastermind", "secret": "17", "symbols": 6, "max_moves": 9},
        {"game": "mastermind", "secret": "13", "symbols": 6},
        {"game": "hangman", "secret": "noon", "lives": 0},
        {"game": "nim", "heaps": [0, 0], "opponent": "random", "seed": 1},
        {"game": "nim", "heaps": [2], "opponent": "strong", "seed": 1},
        {"game": "tic-tac-toe", "board": "XXX......", "opponent": "random", "seed": 1},
        {"game": "nonogram", "across": [[3]], "down": [[1], [1]]},
        {**LINES, "size": 0},
        {**LINES, "size": True},
        {**LINES, "across": [[1]]},
        {**LINES, "lines": []},
        {**LINES, "lines": [3]},
        {**LINES, "lines": [{**LINE, "kind": "none"}]},
        {**LINES, "lines": [{**LINE, "cells": []}]},
        {**LINES, "lines": [{**LINE, "cells": [[1, 1], [1, 1]]}]},
        {**LINES, "lines": [{**LINE, "cells": [[1, 3]]}]},
        {**LINES, "lines": [{**LINE, "cells": [[1]]}]},
        {**LINES, "lines": [{**LINE, "cells": [["a", 1]]}]},
        {**LINES, "lines": [{**LINE, "numbers": [3]}]},
        {**LINES, "lines": [{**LINE, "numbers": 1}]},
        {**LINES, "lines": [{**LINE, "numbers": [True]}]},
        {**LINES, "lines": [{**LINE, "numbers": [1, 1]}]},
        {**LINES, "lines": [{**LINE, "kind": "number of runs", "numbers": [2]}]},
        {**LINES, "lines": [{**LINE, "kind": "any order", "numbers": [1, 1]}]},
    ],
)
def test_a_start_that_makes_no_sense_is_the_author_s_fault(reference):
    task = verigym.Task(
        id="x", env_id="x", seed=0, prompt="", difficulty="easy", reference=reference
    )
    verdict = verigym.make_verifier("games/replay").verify(task, "1 1")
    assert (verdict.status, verdict.reason) == (verigym.Status.VERIFIER_ERROR, "bad_task")
    assert verdict.score is None
