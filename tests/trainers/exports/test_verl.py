"""verl's reward manager, agent loop and trainer with our part of them (`make peers-verl`); test_parity.py has the traces.

verl's servers, which sample, need a rollout engine: recorded replies stand in for them.
"""

from itertools import chain

import numpy as np
import pytest

from verigym.trainers.credit.gigpo import gigpo
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import task_rows

pytestmark = pytest.mark.slow


def play(row, wrong):
    """Return the actions of the oracle after `wrong` ones without effect, and the state keys and rewards."""
    play, actions, keys, rewards = EpisodePlayer(), [], [], []
    _, info = play.start(row)
    while not play.over:
        keys.append(info["state_key"])
        actions.append("nonsense" if len(actions) < wrong else play.env.oracle())
        outcome = play.step(actions[-1])
        info = outcome.info
        rewards.append(outcome.reward)
    return actions, keys, rewards


def test_faults_lengths_and_credit_by_turn(peer):
    (row,) = task_rows("games/keydoor", n=1, difficulty="tiny", options={"max_turns": 7})
    (away,) = task_rows("math/counting", n=1, options={"verifier": "http://127.0.0.1:1"})
    played = [play(row, wrong) for wrong in (0, 1, 6)]
    traces = [{"row": row, "actions": actions} for actions, *_ in played]
    found = peer(
        "verl", "with_verl.py", given={"traces": traces, "away": away, "uids": ["a", "a", "a"]}
    )
    # A fault has no reward: verl's trainer drops the episode.
    assert found["faults"] == ["unreachable", "unreachable"]
    assert "rollout.prompt_length is 3; set data.max_prompt_length" in found["long"]
    assert "ppo needs a critic" in found["refused"]
    assert found["cut"][0] <= 12
    assert found["cut"][1:] == [0.0, True]
    rewards = [sum(rewards) for *_, rewards in played]
    assert [one["reward"] for one in found["loop"]] == rewards == [1.0, 1.0, 0.0]
    wanted = gigpo(
        ["a"] * sum(len(keys) for _, keys, _ in played),
        [i for i, (_, keys, _) in enumerate(played) for _ in keys],
        list(chain.from_iterable(keys for _, keys, _ in played)),
        list(chain.from_iterable(rewards for *_, rewards in played)),
        omega=0.5,
    ).advantage.tolist()
    assert len(set(wanted)) > 3
    *advantages, padding = found["advantages"]
    given = []
    for row, ends, one in zip(advantages, found["ends"], found["loop"], strict=True):
        assert [bool(m) for m in one["mask"]] == [a != 0 for a in row]
        given += [row[end] for end in ends]
    assert np.allclose(given, wanted, atol=1e-6)
    assert padding == [0.0]
