"""The real Inspect evaluates environments with its own solver loop (`make peers-inspect`)."""

import pytest

from verigym.trainers.exports.play import Play
from verigym.trainers.exports.rows import task_rows

pytestmark = pytest.mark.slow


def played(envs, n, wrong=(), **more):
    """Return replies by first observation, and for each task its observations, reward and digest."""
    replies, wanted = {}, []
    for i, row in enumerate(task_rows(*envs, n=n, **more)):
        play = Play()
        shown, info = play.start(row)
        said = replies.setdefault(shown, [])
        seen = [shown]
        while not play.over:
            said.append("nonsense" if i in wrong else play.env.oracle())
            outcome = play.step(said[-1])
            seen += [said[-1], outcome.observation]
        wanted.append(
            {
                "id": info["task_id"],
                "value": play.reward,
                "digest": play.verdict.digest,
                "reason": None,
                "shown": seen[:-1],
            }
        )
    # As Inspect orders its samples.
    return replies, sorted(wanted, key=lambda one: one["id"])


def asked(envs, n, replies, **more):
    return {
        "envs": envs,
        "n": n,
        "seed": 0,
        "replies": replies,
        "difficulty": None,
        "options": {},
        **more,
    }


def test_inspect_plays_several_turns(peer):
    envs = ["games/keydoor", "games/sliding"]
    replies, wanted = played(envs, 4, wrong=(1,), difficulty="easy")
    found = peer("inspect", "with_inspect.py", given=asked(envs, 4, replies, difficulty="easy"))
    assert found["play"] == {"mean": 0.75, "unscored": 0, "samples": wanted}
