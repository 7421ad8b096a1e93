"""The real GRPOTrainer trains on tasks of a spec (`make peers-trl`)."""

import pytest


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_trl_trains_on_one_turn_and_on_several(peer, tmp_path):
    found = peer("trl", "with_trl.py", tmp_path, timeout_s=880)
    one_turn, several = found["reward"], found["rollout"]
    assert (one_turn["steps"], several["steps"]) == (2, 2)
    assert set(one_turn["rewards"]) == {0.0, 1.0}
    assert one_turn["change"] > 0
    assert len(several["rewards"]) == 8
    assert set(several["rewards"]) <= {0.0, 1.0}
