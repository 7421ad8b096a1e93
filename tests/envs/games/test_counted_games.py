"""Solvers that count operations: they find what the oracle's rules say, at several levels."""

from collections import Counter

import pytest

import verigym
from verigym.envs.games import hangman, wordle
from verigym.envs.games.blackjack import reckon
from verigym.envs.games.counted_words import find_by_counts
from verigym.envs.games.dice_reckoning import reckoned
from verigym.envs.games.mate_search import find_mate
from verigym.envs.games.nim import find_moves
from verigym.envs.games.tic_tac_toe import look_ahead
from verigym.envs.games.words import words
from verigym.verifiers.games.duels import best_places, nim_move, taken
from verigym.verifiers.games.fen import uci
from verigym.verifiers.games.guessing import code_marks
from verigym.verifiers.games.mates import mate_distance


def boards(game, level, count):
    """The first positions of the oracle's play."""
    env = verigym.make(game, difficulty=level)
    env.reset(seed=2)
    for _ in range(count):
        yield env.state.board
        if any(env.step(env.oracle())[2:4]):
            return


@pytest.mark.parametrize("level", [1, 3, 5, 10])
def test_the_gains_of_blackjack_are_reckoned(level):
    for board in boards("games/blackjack", level, 4):
        assert reckon(board)[0] == pytest.approx(board.gains)


@pytest.mark.parametrize("level", [1, 2, 5, 10])
def test_the_chances_of_bids_are_reckoned(level):
    for board in boards("games/liars-dice", level, 4):
        if len(board.bids) < 2:
            assert reckoned(board)[0] == pytest.approx(board.chances)


@pytest.mark.parametrize("level", [1, 5, 10])
def test_every_good_move_of_nim_is_found(level):
    for board in boards("games/nim", level, 3):
        moves, operations = find_moves(board.board)
        good = [
            (heap, many)
            for heap, n in enumerate(board.board)
            for many in range(1, n + 1)
            if nim_move(taken(board.board, heap, many)) is None
        ]
        assert (moves, operations > len(moves)) == (good, True)


def test_large_tiles_of_2048_stand_on_the_grid_from_the_start():
    for level, target, large in ((3, 128, [32]), (7, 512, [64, 128])):
        env = verigym.make("games/2048", difficulty=level)
        env.reset(seed=4)
        board = env.state.board
        assert (board.target, sorted(t for t in board.tiles if t > 4)) == (target, large)
        assert sum(map(bool, board.tiles)) == len(large) + 2


@pytest.mark.parametrize("level", [1, 4, 7])
def test_hidden_words_are_found_from_marks_within_the_guesses(level):
    env = verigym.make("games/wordle", difficulty=level)
    for seed in range(5):
        env.reset(seed=seed)
        secret, turns = env.state.board.secret, env.turns_allowed(env.task)
        guesses, operations = wordle.find_words(secret)
        assert len(guesses) <= turns < operations
        assert env.verifier.verify(env.task, guesses).score == 1
        assert env.verifier.verify(env.task, [*guesses[:-1], "x" * len(guesses[0])]).score == 0


@pytest.mark.parametrize("level", [8, 9, 10])
def test_counted_marks_are_enough_for_who_knows_the_words(level):
    env, found = verigym.make("games/wordle", difficulty=level), 0
    for seed in range(12):
        env.reset(seed=seed)
        secret, turns = env.state.board.secret, env.turns_allowed(env.task)
        guesses, operations = find_by_counts(secret)
        assert operations > len(words(5))
        hidden = secret.split()
        assert len(hidden) == level - 7
        # Each guess agrees with the marks of all earlier guesses for a word that was still hidden.
        for i, guess in enumerate(guesses):
            fits = [
                all(code_marks(word, old) == code_marks(guess, old) for old in guesses[:i])
                for word in hidden
                if word not in guesses[:i]
            ]
            assert any(fits)
        found += env.verifier.verify(env.task, guesses).score == 1.0
        assert (len(guesses) <= turns) == (env.verifier.verify(env.task, guesses).score == 1.0)
    assert found >= 10


def test_counted_marks_are_numbers_for_each_word():
    env = verigym.make("games/wordle", difficulty=9)
    prompt, _ = env.reset(seed=1)
    first, other = env.state.board.secret.split()
    common = sum((Counter(first) & Counter(other)).values())
    placed = sum(a == b for a, b in zip(first, other, strict=True))
    seen, *_ = env.step(other)
    assert seen == (
        f"{other}: word 1: {placed} in place, {common - placed} elsewhere; "
        "word 2: 5 in place, 0 elsewhere"
    )
    assert "You do not see which" in prompt
    env.reset(options={"difficulty": 8}, seed=2)
    assert env.step(env.oracle())[0].splitlines()[0].endswith(": 5 in place, 0 elsewhere")


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_hidden_word_is_found_letter_by_letter(level):
    env = verigym.make("games/hangman", difficulty=level)
    for seed in range(5):
        env.reset(seed=seed)
        letters, _ = hangman.find_words(env.state.board.secret, env.state.board.lives)
        assert env.verifier.verify(env.task, letters).score == 1


def test_several_words_are_shown_and_marked():
    env = verigym.make("games/hangman", difficulty=7)
    env.reset(seed=1)
    first, other = env.state.board.secret.split()
    shown = env.step(first[0])[0].splitlines()[0]
    hidden = [" ".join(c if c == first[0] else "_" for c in word) for word in (first, other)]
    assert shown == " / ".join(hidden)
    env = verigym.make("games/wordle", difficulty=7)
    env.reset(seed=1)
    hidden = env.state.board.secret.split()
    guess, *marks = env.step(hidden[1])[0].split()
    assert (guess, len(marks), marks[1]) == (hidden[1], 6, "+++++")
    assert marks.count("+++++") == 1


@pytest.mark.parametrize("level", [5, 6])
def test_the_best_moves_of_tic_tac_toe_are_found(level):
    for board in boards("games/tic-tac-toe", level, 3):
        values, _ = look_ahead(board.board, 9)
        best = [place for place, value in values.items() if value == max(values.values())]
        assert best == best_places(board.board, "X")


@pytest.mark.parametrize("level", [1, 3, 5, 6])
def test_mates_are_found_and_kept(level):
    env = verigym.make("games/chess-puzzles", difficulty=level)
    env.reset(seed=3)
    board = env.state.board
    move, _ = find_mate(board.position, board.left)
    assert mate_distance(board.position, board.left) == board.left
    if board.left > 1:
        assert find_mate(board.position, board.left - 1)[0] is None
    _, _, _, _, info = env.step(uci(move))
    assert env.state.board.end == ("mate" if board.left == 1 else "")
    assert info["valid_action"]


@pytest.mark.parametrize("game", ["minesweeper", "chess-puzzles", "hangman", "sokoban"])
def test_the_last_observation_says_that_the_game_is_solved(game):
    env = verigym.make(f"games/{game}", difficulty="easy")
    shown, _ = env.reset(seed=5)
    over = False
    while not over:
        assert "The task is over" not in shown
        shown, _, over, _, _ = env.step(env.oracle())
    assert shown.splitlines()[-1] == "The task is over: you solved it."


def test_the_last_observation_says_that_the_game_is_lost():
    env = verigym.make("games/nim", difficulty="hard")
    env.reset(seed=1)
    over = False
    while not over:
        heap = next(i for i, n in enumerate(env.state.board.board, 1) if n)
        shown, reward, over, _, _ = env.step(f"{heap} 1")
    assert (shown.splitlines()[-1], reward) == ("The task is over: you did not solve it.", 0.0)
