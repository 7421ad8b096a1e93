"""Adapters to OpenSpiel, MiniGrid and TextWorld, each tested if its library is installed."""

import random

import pytest

import verigym
from verigym.doors import DOORS
from verigym.envs.check import check
from verigym.envs.check.laws.contract import gymnasium_s_checker_finds_nothing
from verigym.envs.check.laws.keys import equal_keys_have_equal_futures, keys_have_no_history

GAMES = {door.name: door.games for door in DOORS}


def need(module, extra):
    pytest.importorskip(module, reason=f"pip install 'verigym[{extra}]'")


def wins(env, games):
    won = 0.0
    for seed in range(games):
        env.reset(seed=seed)
        rng, over = random.Random(seed), False
        while not over:
            _, reward, terminated, truncated, info = env.step(
                rng.choice(env.legal_actions(env.state))
            )
            assert info["valid_action"]
            over = terminated or truncated
            won += reward
    return won / games


@pytest.mark.parametrize("name", GAMES["openspiel"])
def test_openspiel_games_play_the_same_for_a_seed(name):
    need("pyspiel", "openspiel")
    plays = []
    for _ in range(2):
        env = verigym.make(f"openspiel/{name}", difficulty="weak")
        told = [env.reset(seed=3)]
        rng = random.Random(3)
        while len(told) < 5 and not env._done:
            told.append(env.step(rng.choice(env.legal_actions(env.state))))
        plays.append(told)
    assert plays[0] == plays[1]


def test_openspiel_s_opponents_are_graded():
    need("pyspiel", "openspiel")
    rates = [
        wins(verigym.make("openspiel/connect_four", difficulty=name), 40)
        for name in ("random", "weak", "strong")
    ]
    assert rates[0] > 0.3
    assert rates[0] > rates[1] >= rates[2]
    assert rates[2] <= 0.05


@pytest.mark.parametrize("name", ["tic_tac_toe", "pig", "dots_and_boxes"])
@pytest.mark.slow
def test_openspiel_keeps_the_laws_that_it_claims(name):
    need("pyspiel", "openspiel")
    report = check(f"openspiel/{name}", seeds=4)
    assert report.passed, report.text()


@pytest.mark.parametrize("name", GAMES["minigrid"])
def test_minigrid_rooms_reset_at_every_size(name):
    need("minigrid", "minigrid")
    env = verigym.make(f"minigrid/{name}")
    for difficulty in env.difficulties:
        text, _ = env.reset(seed=1, options={"difficulty": difficulty})
        assert "Mission: " in text
        before = env.state_key()
        env.step("left")
        assert env.state_key() != before


def test_minigrid_s_empty_room_is_crossed_in_words():
    need("minigrid", "minigrid")
    env = verigym.make("minigrid/Empty")
    env.reset(seed=1)
    total = sum(env.step(a)[1] for a in ["forward", "forward", "right", "forward", "forward"])
    assert total == 1.0


@pytest.mark.slow
def test_a_story_is_won_by_its_own_commands():
    need("textworld", "textworld")
    env = verigym.make("textworld/cooking", difficulty="easy")
    text, info = env.reset(seed=3)
    assert "cook" in text.lower()
    point, key, over, total = env.snapshot(), info["state_key"], False, 0.0
    while not over:
        _, reward, terminated, truncated, _ = env.step(env.oracle())
        total += reward
        over = terminated or truncated
    assert total == 1.0
    env.restore(point)
    assert env.state_key() == key


@pytest.mark.slow
def test_a_story_s_keys_are_whole_and_no_warning_gets_out():
    need("textworld", "textworld")
    laws = (
        gymnasium_s_checker_finds_nothing,
        equal_keys_have_equal_futures,
        keys_have_no_history,
    )
    report = check("textworld/coins", seeds=2, laws=laws)
    assert report.passed, report.text()


@pytest.mark.slow
def test_a_story_s_end_does_not_count_the_turns():
    need("textworld", "textworld")
    env = verigym.make("textworld/coins", difficulty="easy")
    env.reset(seed=0)
    while True:
        view, _, terminated, _, _ = env.step(env.oracle())
        if terminated:
            break
    assert "You scored 1 out of a possible 1." in view


@pytest.mark.slow
def test_what_lies_in_one_place_is_told_in_one_order():
    need("textworld", "textworld")
    env = verigym.make("textworld/cooking", difficulty="easy")
    env.reset(seed=5)
    before = env.step("look")[0]
    taken = [one for one in env.legal_actions(env.state) if one.endswith(" from counter")][:2]
    assert len(taken) == 2
    for one in taken:
        env.step(one)
        env.step(f"put {one[5:-13]} on counter")
    after, _, _, _, info = env.step("look")
    assert after == before
    env.reset(seed=5)
    assert env.step("look")[4]["state_key"] == info["state_key"]


@pytest.mark.parametrize(
    "game", ["efg_game(filename=/etc/passwd)", "nim(filename=/x)", "../x", "nim\0", "no_such", ""]
)
def test_no_game_of_openspiel_is_read_from_a_file(game):
    pytest.importorskip("pyspiel")
    task = verigym.Task(
        id="t",
        env_id="e",
        seed=0,
        prompt="p",
        difficulty="d",
        reference={"door": "openspiel", "game": game, "seed": 0, "turns": 3, "simulations": 0},
    )
    verdict = verigym.make_verifier("doors/replay").verify(task, [])
    assert (verdict.status.value, verdict.reason) == ("verifier_error", "bad_task"), verdict
