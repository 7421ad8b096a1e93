"""The real Inspect evaluates environments with its own solver loop (`make peers-inspect`)."""

import pytest

pytestmark = pytest.mark.slow


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


def test_inspect_plays_several_turns(peer, played):
    envs = ["games/keydoor", "games/sliding"]
    replies, wanted = played(envs, 4, wrong=(1,), difficulty="easy")
    found = peer("inspect", "with_inspect.py", given=asked(envs, 4, replies, difficulty="easy"))
    # As Inspect orders its samples.
    wanted = [{**one, "reason": None} for one in sorted(wanted, key=lambda one: one["id"])]
    assert found["play"] == {"mean": 0.75, "unscored": 0, "samples": wanted}
