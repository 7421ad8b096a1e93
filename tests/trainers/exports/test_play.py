"""A play keeps law 1 behind interfaces that know rewards alone."""

import pytest

from verigym.errors import RequestError
from verigym.trainers.exports.play import FAULTED, EpisodePlayer
from verigym.trainers.exports.rows import task_rows
from verigym.verdict import Status, fault


def test_a_play_is_the_environments_own():
    (row,) = task_rows("games/keydoor", n=1, difficulty="tiny")
    play = EpisodePlayer()
    with pytest.raises(RequestError, match="call start"):
        _ = play.env
    play.start(row)
    while not play.over:
        outcome = play.step(play.env.oracle())
    assert (play.reward, outcome.terminated, play.verdict.score) == (1.0, True, 1.0)
    assert not play.faulted
    with pytest.raises(RequestError, match="the episode is over"):
        play.step("up")


class Failing:
    """A judge that gives no score the first `times`, and then asks the real one."""

    def __init__(self, judge, times):
        self.judge, self.times = judge, times

    def verify(self, task, submission):
        self.times -= 1
        if self.times >= 0:
            return fault(Status.INFRA, "gone", "the machine is away")
        return self.judge.verify(task, submission)


@pytest.mark.parametrize(("times", "reward"), [(0, 1.0), (2, 1.0), (3, None)])
def test_a_fault_is_retried_and_then_no_reward(times, reward):
    (row,) = task_rows("math/counting", n=1)
    play = EpisodePlayer(retries=2)
    play.start(row)
    play.env.verifier = Failing(play.env.verifier, times)
    outcome = play.step(play.env.oracle())
    assert (play.reward, outcome.reward, play.over) == (reward, reward, True)
    assert play.faulted == (reward is None)
    assert (outcome.observation == FAULTED) == (reward is None)
    play.start(row)
    assert (play.reward, play.faulted, play.over) == (0.0, False, False)
