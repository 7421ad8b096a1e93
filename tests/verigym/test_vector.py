"""`make_vec`: every mode plays the same, resets by itself, and threads wait together."""

import socket
import threading

import numpy as np
import pytest

import verigym
from verigym import RequestError, VerifierFault
from verigym.vector import MODES, BatchVectorEnv

ACTIONS = ("up", "right", "down", "left", "up up")


def played(mode, autoreset, steps=40):
    envs = verigym.make_vec("keydoor", 3, mode=mode, autoreset=autoreset, difficulty="tiny")
    try:
        observations, infos = envs.reset(seed=7)
        record = [(tuple(observations), tuple(infos["state_key"]))]
        for n in range(steps):
            actions = tuple(ACTIONS[(n + i) % len(ACTIONS)] for i in range(3))
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            over = (terminated | truncated).tolist()
            record.append((tuple(observations), rewards.tolist(), over, tuple(infos["state_key"])))
        return record
    finally:
        envs.close()


@pytest.mark.parametrize("autoreset", ["NextStep", "SameStep"])
def test_every_mode_plays_the_same(autoreset):
    sync, thread, process = (played(mode, autoreset) for mode in MODES)
    assert sync == thread == process
    assert any(any(step[2]) for step in sync[1:])
    single = verigym.make("keydoor", difficulty="tiny")
    for i in range(3):
        assert single.reset(seed=7 + i)[0] == sync[0][0][i]


def test_threads_step_at_the_same_time():
    envs = verigym.make_vec("keydoor", 4, mode="thread")
    together = threading.Barrier(4, timeout=60)
    envs.reset(seed=1)
    for env in envs.envs:
        inner = env.unwrapped

        def transition(state, action, plain=inner.transition):
            together.wait()  # passes only if all four are in their step
            return plain(state, action)

        inner.transition = transition
    envs.step(("up",) * 4)
    envs.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("verigym-vector")]


def test_a_fault_is_raised_when_all_steps_have_ended():
    class Away(type(verigym.make_verifier("math/countdown"))):
        def verify(self, task, submission):
            return verigym.fault(verigym.Status.INFRA, "away", "nobody there")

    envs = verigym.make_vec("countdown", 3, mode="thread")
    envs.reset(seed=1)
    envs.envs[1].unwrapped.verifier = Away()
    with pytest.raises(VerifierFault):
        envs.step(("<answer>1</answer>",) * 3)
    observations, _ = envs.reset(seed=2)
    assert len(observations) == 3
    envs.envs[1].unwrapped.verifier = verigym.make_verifier("math/countdown")
    _, rewards, terminated, _, _ = envs.step(tuple(env.unwrapped.oracle() for env in envs.envs))
    assert rewards.tolist() == [1.0] * 3
    assert np.all(terminated)
    envs.close()


def test_a_fault_comes_out_of_a_process_as_it_is():
    with socket.socket() as listener:  # bound and not listening: nobody answers there
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        envs = verigym.make_vec("countdown", 2, mode="process", verifier=url)
        try:
            envs.reset(seed=1)
            with pytest.raises(VerifierFault) as raised:
                envs.step(("<answer>1</answer>",) * 2)
            assert raised.value.verdict.score is None
            with pytest.raises(RequestError, match="make it again"):
                envs.reset(seed=2)
        finally:
            envs.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": "2"}, "whole number of at least 1, got '2'"),
        ({"mode": "threads"}, "did you mean 'thread'"),
        ({"autoreset": "next"}, "unknown autoreset 'next'"),
        ({"num_envs": 0}, "at least 1"),
        ({"name": "keydor"}, "did you mean"),
    ],
)
def test_mistakes_are_told(options, message):
    with pytest.raises(RequestError, match=message):
        verigym.make_vec(**{"name": "keydoor", "num_envs": 2, **options})


@pytest.mark.parametrize("mode", MODES)
def test_each_instance_gets_one_action(mode):
    envs = verigym.make_vec("keydoor", 2, mode=mode)
    envs.reset(seed=1)
    for actions in ("up", ("up",), ("up",) * 3):
        with pytest.raises(RequestError, match="give one action for each of 2 instances"):
            envs.step(actions)
    assert len(envs.step(("up", "up"))[0]) == 2
    envs.close()


def test_an_environment_with_a_step_of_its_own_is_stepped_by_it():
    class Shouting(type(verigym.make("countdown"))):
        def step(self, action):
            observation, *rest = super().step(action)
            return f"{observation}!", *rest

    envs = BatchVectorEnv([Shouting, lambda: verigym.make("countdown")])
    envs.reset(seed=1)
    observations, rewards, *_ = envs.step([env.unwrapped.oracle() for env in envs.envs])
    assert observations[0].endswith("!")
    assert not observations[1].endswith("!")
    assert list(rewards) == [1.0, 1.0]
    envs.close()
