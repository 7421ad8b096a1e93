"""SkyRL's gym and GEM play environments with their own `make` (`make peers-gyms`); test_parity.py has the traces."""

import pytest

pytestmark = pytest.mark.slow


def test_what_else_the_gyms_call(peer):
    found = peer("gyms", "with_gyms.py", given=[])["more"]
    skyrl, gem = found["skyrl"], found["gem"]
    assert skyrl["row"] == sorted(
        ["data_source", "prompt", "env_class", "env", "seed", "split", "difficulty", "options"]
    )
    assert skyrl["keeps_system"]
    assert skyrl["means"] == {"turns": 2.0, "reward": 0.5}
    assert gem["differ"]
    assert gem["same"]
    assert gem["rewards"][0] == gem["rewards"][1]
    assert gem["stepped"][0] == gem["stepped"][1]
    assert gem["seeds"] == [False]
    # A fault stops the caller: neither of them has a reward for it.
    assert (skyrl["fault"], gem["fault"]) == ("gone", "gone")
    assert skyrl["metrics"] == {"turns": 0}
