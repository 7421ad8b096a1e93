"""Adapters in general: names without imports, clear errors, waived laws, replay, and foreign
generators."""

import copy
import json
import pickle
import random
import subprocess
import sys
import threading

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

import verigym
from verigym import RequestError, Status
from verigym.cli.main import app
from verigym.doors import DOORS, Door
from verigym.envs.check import LAWS, check
from verigym.envs.doors.foreign import ForeignGame
from verigym.registry import list_doors, list_envs, resolve
from verigym.verifiers.doors import borrowed
from verigym.verifiers.doors.described import DESCRIBERS, Describer
from verigym.verifiers.doors.game import library, start


def test_listing_all_doors_imports_no_library():
    program = (
        "import sys, json, verigym\n"
        "from verigym.registry import list_doors\n"
        "names = list(list_doors(installed=False)); list_doors()\n"
        "print(json.dumps([len(names), sorted(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    count, modules = json.loads(done.stdout)
    assert count > 150
    libraries = {door.library for door in DOORS} - {"gymnasium"}
    assert not libraries & set(modules)
    assert not [name for name in modules if name.startswith("verigym.envs")]


def test_every_name_is_a_game_of_its_module():
    # The classes of a door are made without its library.
    for full, entry in list_doors(installed=False).items():
        module, _, name = entry.target.partition(":")
        made = getattr(sys.modules.get(module) or __import__(module, fromlist=["x"]), name)
        assert made.id == full
        assert set(made.waived) <= {law.__name__ for law in LAWS}
        assert all(len(reason) > 20 for reason in made.waived.values())


def test_our_own_environments_waive_nothing():
    for entry in list_envs().values():
        module, _, name = entry.target.partition(":")
        if module.startswith("verigym."):  # and not of a package that is installed beside it
            assert not getattr(__import__(module, fromlist=["x"]), name).waived, entry.id


def test_what_is_ours_goes_first_by_a_short_name():
    assert resolve("sudoku") == "verigym/games/sudoku-v0"
    assert resolve("reasoning-gym/sudoku") == "verigym/reasoning-gym/sudoku-v0"
    assert resolve("verigym/textarena/TicTacToe-v0") == "verigym/textarena/TicTacToe-v0"


def test_a_door_that_is_shut_says_what_to_install():
    shut = Door("x", "no_such_library_at_all", "x-extra", "x", ())
    assert not shut.installed
    with pytest.raises(RequestError, match=r"pip install 'verigym\[x-extra\]'"):
        library("no_such_library_at_all", "x-extra")


def test_a_library_that_is_missing_is_a_fault_and_no_zero(monkeypatch):
    env = verigym.make("gymnasium/FrozenLake")
    env.reset(seed=1)

    def missing(reference):
        raise RequestError("not installed")

    monkeypatch.setattr("verigym.verifiers.doors.replay.start", missing)
    verdict = env.verifier.verify(env.task, ["up"])
    assert (verdict.status, verdict.score) == (Status.INFRA, None)


@pytest.mark.parametrize("name", ["Blackjack", "FrozenLake"])
@pytest.mark.slow
def test_toy_text_keeps_the_laws_that_it_claims(name):
    report = check(f"gymnasium/{name}", seeds=6)
    assert report.passed, report.text()


def test_waived_laws_are_told_and_not_tried():
    report = check("gymnasium/Blackjack", seeds=2, laws=LAWS[:1])
    (outcome,) = report.outcomes
    assert outcome.waived == "blackjack has one setting"
    assert outcome.seconds == 0.0


def test_going_back_plays_the_moves_again():
    env = verigym.make("gymnasium/Taxi", difficulty="medium")
    env.reset(seed=4)
    points, told = [], []
    for _ in range(4):
        points.append(pickle.loads(pickle.dumps(env.snapshot())))
        told.append(env.step(env.oracle()))
    assert env._live[1] == tuple(env.state.moves)
    for point, expected in zip(reversed(points), reversed(told), strict=True):
        for other in (env, verigym.make("gymnasium/Taxi")):
            other.restore(point)
            assert other.step(other.oracle()) == expected


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_an_environment_in_play_can_be_copied(copied):
    env = verigym.make("gymnasium/Taxi", difficulty="medium")
    env.reset(seed=4)
    env.step(env.oracle())
    other = copied(env)
    assert type(other) is type(env)
    assert other.state_key() == env.state_key()
    move = env.oracle()
    assert other.step(move) == env.step(move)


def test_what_a_submission_claims_does_not_count():
    env = verigym.make("gymnasium/FrozenLake")
    env.reset(seed=3)
    for claim in ({"score": 1.0}, "won", [1], [None], ["down"] * 5000, [["down"]], None):
        assert env.verifier.verify(env.task, claim).score == 0.0


def test_an_environment_of_ones_own_by_a_describer(monkeypatch):
    class Line(gymnasium.Env):
        """Walk to 3."""

        action_space = gymnasium.spaces.Discrete(2)
        observation_space = gymnasium.spaces.Discrete(4)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = int(self.np_random.integers(2))
            return self.at, {}

        def step(self, action):
            self.at = max(0, self.at + (1 if action else -1))
            return self.at, float(self.at == 3), self.at == 3, False, {}

    monkeypatch.setitem(
        DESCRIBERS,
        "Line",
        Describer(
            make=lambda settings: Line(),
            prompt="Walk to 3.",
            actions={"left": 0, "right": 1},
            describe=lambda env, seen: f"You stand at {seen}.",
            key=lambda env, seen: seen,
        ),
    )

    class LineGame(ForeignGame):
        id = "verigym/examples/line-v0"
        door = "gymnasium"
        difficulties = ("only",)
        settings = {"only": {"game": "Line", "turns": 8}}  # noqa: RUF012
        oracle_absent = "there is no chart of it"

    env = LineGame()
    text, _ = env.reset(seed=1)
    assert "Answer with one of: left, right." in text
    assert text.endswith(env.view())
    over, total = False, 0.0
    while not over:
        _, reward, over, _, info = env.step("right")
        total += reward
    assert (total, info["verdict"].reason) == (1.0, "won")


def test_borrowed_generators_leave_the_global_ones_alone_and_threads_apart():
    shared = (random.getstate(), repr(np.random.get_state(legacy=False)))
    results = {}

    def draw(name, seed):
        with borrowed.drawing_from(borrowed.Generators(seed)):
            results[name] = [
                (borrowed._RANDOM.randint(0, 10**9), int(borrowed._NUMPY.random.randint(10**9)))
                for _ in range(200)
            ]

    threads = [threading.Thread(target=draw, args=(i, i % 2)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[2] != results[1] == results[3]
    assert (random.getstate(), repr(np.random.get_state(legacy=False))) == shared
    # Where none of ours is set, the library draws as it always did.
    random.seed(5)
    expected = random.random()
    random.seed(5)
    assert borrowed._RANDOM.random() == expected


@pytest.mark.parametrize("asked", ["openspiel/hex", "openspiel/*"])
def test_a_check_without_the_library_says_what_to_install(asked, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)  # as where it is not installed
    list_doors.cache_clear()
    try:
        done = CliRunner().invoke(app, ["check", asked])
    finally:
        list_doors.cache_clear()
    assert done.exit_code == 2
    assert "pip install 'verigym[openspiel]'" in " ".join(done.output.split())


def test_the_state_of_borrowed_generators_changes_when_they_are_drawn_from():
    ours = borrowed.Generators(1)
    before = ours.state()
    assert borrowed.Generators(1).state() == before
    with borrowed.drawing_from(ours):
        borrowed._NUMPY.random.shuffle([1, 2, 3])
    after = ours.state()
    with borrowed.drawing_from(ours):
        borrowed._NUMPY.random.shuffle([1, 2, 3])
    assert len({str(before), str(after), str(ours.state())}) == 3


def test_a_reference_that_names_no_game_is_the_task_s_fault():
    for reference in (None, {}, {"door": "x"}, {"door": "gymnasium", "seed": 1, "turns": 2}):
        with pytest.raises(verigym.TaskError):
            start(reference)
