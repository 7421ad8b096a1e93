"""Mastermind with remainders for marks: the arrays of all codes against plain enumeration, and what the prompt shows."""

import itertools
import random

import pytest

import verigym
from verigym.envs.games.remainder_marks import Remaining, find_by_halves, tells_little
from verigym.errors import TaskError
from verigym.verifiers.games.guessing import code_marks
from verigym.verifiers.games.rules import RULES

NAME = "games/mastermind"


def remainder(code, guess, modulus):
    placed, elsewhere = code_marks(code, guess)
    return (2 * placed + elsewhere) % modulus


def codes_of(length, symbols):
    digits = map(str, range(1, symbols + 1))
    return ["".join(code) for code in itertools.product(digits, repeat=length)]


@pytest.mark.parametrize("modulus", [2, 3, 5])
def test_the_codes_that_are_left_agree_with_trying_all(modulus):
    rng, codes = random.Random(modulus), codes_of(4, 5)
    for _ in range(15):
        secret, *guesses = rng.sample(codes, 7)
        left, wanted = Remaining(4, 5, modulus), codes
        assert list(left) == wanted
        for guess in guesses:
            mark = remainder(secret, guess, modulus)
            left.keep(guess, mark)
            wanted = [code for code in wanted if remainder(code, guess, modulus) == mark]
            assert list(left) == wanted
            assert len(left) == len(wanted)


@pytest.mark.parametrize("modulus", [2, 3])
def test_the_search_by_halves_finds_what_trying_all_finds(modulus):
    rng, codes = random.Random(modulus), codes_of(5, 4)
    ends = set()
    for _ in range(30):
        secret, *guesses = rng.sample(codes, 15)
        marked = {guess: remainder(secret, guess, modulus) for guess in guesses}
        if rng.random() < 0.3:
            marked[secret] = (remainder(secret, secret, modulus) + 1) % modulus
        fitting = [
            code
            for code in codes
            if all(remainder(code, guess, modulus) == mark for guess, mark in marked.items())
        ]
        found, operations = find_by_halves(5, 4, modulus, marked)
        assert (found in fitting) if fitting else found is None
        assert operations >= (4**2 + 4**3) * len(marked)
        ends.add(bool(fitting))
    assert ends == {True, False}


@pytest.mark.parametrize(("level", "modulus"), [(9, 3), (10, 2)])
def test_one_code_is_left_and_no_mark_tells_much(level, modulus):
    env = verigym.make(NAME, difficulty=level)
    env.reset(seed=level)
    board = env.state.board
    length, symbols = len(board.secret), board.symbols
    assert board.modulus == modulus
    left = Remaining(length, symbols, modulus)
    total = len(left)
    assert total == symbols**length
    for guess in board.made:
        alone = Remaining(length, symbols, modulus)
        alone.keep(guess, remainder(board.secret, guess, modulus))
        assert 0.7 < len(alone) * modulus / total < 1.3
        left.keep(guess, remainder(board.secret, guess, modulus))
    assert list(left) == [board.secret]
    marked = {guess: remainder(board.secret, guess, modulus) for guess in board.made}
    found, operations = find_by_halves(length, symbols, modulus, marked)
    assert (found, operations) == (board.secret, env.work(env.state))


def test_a_guess_of_one_digit_would_tell_much():
    # Two points for each of its digits that is in the code, an even number.
    assert not tells_little("1111111", 7, 2)
    assert not tells_little("4444444", 7, 2)
    assert tells_little("2354454", 7, 2)


@pytest.mark.parametrize(("level", "names"), [(9, "012"), (10, ("even", "odd"))])
def test_remainders_are_shown_before_and_after_a_guess(level, names):
    env = verigym.make(NAME, difficulty=level)
    prompt, _ = env.reset(seed=3)
    board = env.state.board
    for guess in board.made:
        shown = names[remainder(board.secret, guess, len(names))]
        assert f"\n{guess}: {shown}\n" in f"{prompt}\n"
    # The example of the prompt is marked by the rules.
    assert f"Its mark would be {names[remainder('1123', '1411', len(names))]}." in prompt
    own = board.secret[1:] + ("2" if board.secret[0] == "1" else "1")
    observation, *_, info = env.step(own)
    assert info["valid_action"]
    shown = names[remainder(board.secret, own, len(names))]
    assert f"\n{own}: {shown}\n" in f"\n{observation}\n"
    _, reward, terminated, _, _ = env.step(env.oracle())
    assert (reward, terminated) == (1.0, True)


@pytest.mark.parametrize("modulus", [1, 10, -2, "2", 2.0, True, None])
def test_a_modulus_of_another_kind_is_refused(modulus):
    with pytest.raises(TaskError, match="modulus must be 2 to 9"):
        RULES["mastermind"].start(
            {"secret": "13", "symbols": 6, "max_moves": 9, "modulus": modulus}
        )


def test_a_modulus_changes_no_rule():
    reference = {"secret": "1352", "symbols": 6, "max_moves": 2, "given": ["1111"], "modulus": 2}
    rules = RULES["mastermind"]
    state = rules.start(reference)
    assert not rules.legal(state, "1357")
    assert rules.won(rules.apply(rules.apply(state, "1353"), "1352"))
    assert rules.apply(state, "1353").modulus == 2
