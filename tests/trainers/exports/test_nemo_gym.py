"""NeMo Gym's agents play on our resources server, over loopback (`make peers-nemo`); test_parity.py has the traces."""

import pytest

from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import task_rows

pytestmark = pytest.mark.slow


def test_a_fault_is_an_error_and_sessions_end(peer):
    (row,) = task_rows("math/counting", n=1)
    play = EpisodePlayer()
    play.start(row)
    found = peer("nemo", "with_nemo.py", given=[{"row": row, "actions": [play.env.oracle()]}])
    errors = found["errors"]
    for path in ("/step", "/verify", "/verify after /act"):
        status, detail = errors[path]
        assert status == 503
        assert "gave no score: infra, gone: the machine is away" in detail
    assert errors["no session"][0] == 409
    assert errors["options"][0] == 422
    assert "set `options` in the server's configuration" in errors["options"][1]
    assert found["left"] == 0
    assert found["idle"] == 1
