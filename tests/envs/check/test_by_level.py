"""Figures by level: what the oracle's play takes, a policy that errs, and shortcuts."""

import importlib.util
from pathlib import Path

import pytest

import verigym
from verigym.envs.check.by_level import ERROR_RATES, measure_levels, play_level, tasks_of
from verigym.envs.check.shortcuts import (
    CONSTANT,
    GUESSED,
    KINDS,
    NODES,
    RANDOM,
    SEARCHED,
    kind_of,
    play_shortcuts,
)
from verigym.verifiers.audit.intervals import wilson

SOURCE = Path(__file__).parents[2] / "data" / "broken_envs" / "broken_envs.py"
SPEC = importlib.util.spec_from_file_location("by_level_envs", SOURCE)
ENVS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ENVS)


class Counted(ENVS.Sound):
    """One operation for each digit left."""

    def work(self, state):
        return len(state.code) - len(state.typed)


class Choice(ENVS.YesOrNo):
    """A question that lists its candidates."""

    def candidates(self, task):
        return ["yes", "no"]


def test_sizes_follow_from_the_oracles_play():
    figures = measure_levels(Counted(verifier=ENVS.CodeVerifier()), range(4))
    assert [row.level for row in figures] == list(range(1, 11))
    hard = next(row for row in figures if row.name == "hard")
    assert (hard.turns, hard.answer_chars, hard.operations) == (8, 8, 8 * 9 / 2)
    assert hard.prompt_chars > figures[0].prompt_chars
    for rate in ERROR_RATES:
        # Every task of a level takes as much, so nothing is left to the choice of tasks.
        assert hard.noisy[rate].mean == pytest.approx((1 - rate) ** 36)
        assert hard.noisy[rate].interval == pytest.approx((hard.noisy[rate].mean,) * 2)


def test_the_best_shortcut_of_a_kind_is_named_with_its_interval():
    (first, *_) = measure_levels(ENVS.PaysConstant(), range(6))
    best = first.shortcuts[CONSTANT]
    assert (best.shortcut, best.mean, best.tasks) == ("the constant 'none'", 1.0, 6)
    assert best.interval == pytest.approx(wilson(6, 6))
    assert set(first.shortcuts) <= set(KINDS)


def test_shortcuts_can_be_left_out():
    assert measure_levels(ENVS.Sums(), range(2), shortcuts=False)[0].shortcuts == {}


def test_moves_are_played_where_they_can_be_listed_and_guesses_where_there_are_candidates():
    nim, choice = verigym.make("nim"), Choice()
    played = play_shortcuts(nim, tasks_of({"tiny": play_level(nim, "tiny", range(8))}))
    assert 0 < sum(played[RANDOM]["tiny"]) < 8
    assert GUESSED not in played
    guessed = play_shortcuts(choice, tasks_of({"easy": play_level(choice, "easy", range(24))}))
    assert 4 < sum(guessed[GUESSED]["easy"]) < 20
    assert RANDOM not in guessed


def test_a_search_solves_what_has_few_states_and_stops_at_its_limit():
    class Tried(type(verigym.make("keydoor"))):
        moves = 0

        def transition(self, state, action):
            self.moves += 1
            return super().transition(state, action)

    found = {}
    for level in ("tiny", "10"):
        env = Tried()
        tasks = tasks_of({level: play_level(env, level, range(1))})
        found[level] = play_shortcuts(env, tasks)[SEARCHED][level]
    assert found == {"tiny": [1.0], "10": [0.0]}
    # All other shortcuts together: random play and one move repeated to the end, and some replies.
    others = 2 * env.turns_allowed(env.task) + 400
    assert NODES <= env.moves <= NODES + others + 200


def test_what_earns_nothing_at_first_is_not_tried_again():
    env = ENVS.PaysConstant()
    tasks = tasks_of({name: play_level(env, name, range(6)) for name in ("easy", "hard")})
    found = play_shortcuts(env, tasks, one_in=3)
    assert found["the constant 'none'"] == {"easy": [1.0] * 6, "hard": [1.0] * 6}
    assert found["the constant 'NULL'"] == {"easy": [0.0] * 2, "hard": [0.0] * 2}


@pytest.mark.parametrize("env", [ENVS.Sums(), verigym.make("sudoku"), verigym.make("predict")])
def test_every_shortcut_has_a_kind(env):
    name = env.difficulties[0]
    found = play_shortcuts(env, tasks_of({name: play_level(env, name, range(2))}))
    assert {kind_of(shortcut) for shortcut in found} <= set(KINDS)
    assert CONSTANT in map(kind_of, found)
