"""Adapter to TextArena: every game resets, repeats for a seed, and leaves global generators alone."""

import random

import pytest

pytest.importorskip("textarena", reason="pip install 'verigym[textarena]'")

import verigym
from verigym.doors import DOORS
from verigym.envs.check import check
from verigym.envs.doors.arena import SINGLE, TWO
from verigym.verifiers.doors.arena_moves import MOVES

(GAMES,) = [door.games for door in DOORS if door.name == "textarena"]


def played(name, seed, steps=6):
    env = verigym.make(f"textarena/{name}")
    told = [env.reset(seed=seed)]
    rng = random.Random(seed)
    for _ in range(steps):
        if env._done:
            break
        game = env._live[2]
        moves = list(MOVES[name](game._env)) if name in TWO else ["[up]", "[1 1]", "[red]", "[3]"]
        told.append(env.step(rng.choice(moves)))
    return told


def test_the_names_are_the_tables():
    assert set(GAMES) == set(SINGLE) | set(TWO)
    assert len(GAMES) >= 30
    assert set(MOVES) >= set(TWO)


FEW = ("2048", "Minesweeper", "Nim", "Sudoku", "TicTacToe")
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in GAMES if name not in FEW]


@pytest.mark.parametrize("name", [*FEW, *SLOW])
def test_a_seed_is_a_game(name):
    random.seed(1)
    state = random.getstate()
    first = played(name, 7)
    assert random.getstate() == state
    random.seed(2)
    assert played(name, 7) == first
    assert len(first[0][0]) > 100


@pytest.mark.parametrize("name", ["TicTacToe", "LightsOut"])
@pytest.mark.slow
def test_it_keeps_the_laws_that_it_claims(name):
    report = check(f"textarena/{name}", seeds=4)
    assert report.passed, report.text()


@pytest.mark.parametrize("name", ["2048", "PegJump"])
def test_part_of_the_way_is_not_paid(name):
    env = verigym.make(f"textarena/{name}")
    env.reset(seed=1)
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step("no move")
        total += reward
        over = terminated or truncated
    assert total == 0.0


def test_a_list_of_moves_is_no_move():
    env = verigym.make("textarena/TicTacToe")
    env.reset(seed=1)
    before = env.state
    _, _, _, _, info = env.step("[0] [1] [2]")
    assert not info["valid_action"]
    assert env.state == before


def test_a_game_can_be_won_against_the_random_opponent():
    wins = 0
    for seed in range(12):
        env = verigym.make("textarena/TicTacToe")
        env.reset(seed=seed)
        rng, over = random.Random(seed), False
        while not over:
            board = env._live[2]._env.state.game_state["board"]
            free = [f"[{3 * r + c}]" for r in range(3) for c in range(3) if not board[r][c]]
            _, reward, terminated, truncated, info = env.step(rng.choice(free))
            assert info["valid_action"]
            over = terminated or truncated
        wins += reward
    assert 2 <= wins <= 11
