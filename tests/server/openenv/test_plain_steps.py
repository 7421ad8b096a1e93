"""Answers to OpenEnv's clients, put together from bytes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from verigym.server.openenv.plain_steps import observe, read_plain_step

INFO = st.dictionaries(
    st.sampled_from(["task_id", "state_key", "legal_actions", "a b", "é"]),
    st.none() | st.booleans() | st.text(max_size=9) | st.lists(st.integers(-9, 9), max_size=3),
)


@given(
    st.text(max_size=30),
    INFO,
    st.floats(0, 1),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 9]),
)
def test_an_observation_has_reward_done_and_metadata_twice(
    text, info, reward, terminated, truncated, seq
):
    answer = {
        "session": "s",
        "seq": seq,
        "observation": text,
        "reward": reward,
        "terminated": terminated,
        "truncated": truncated,
        "info": info,
    }
    metadata = {"terminated": terminated, "truncated": truncated, **info}
    assert json.loads(observe(json.dumps(answer).encode())) == {
        "observation": {"metadata": metadata, "message": text},
        "reward": reward,
        "done": terminated or truncated,
        "metadata": metadata,
    }


def test_the_answer_to_a_reset_has_no_reward_yet():
    told = json.loads(observe(b'{"session":"s","seq":0,"observation":"go","info":{}}'))
    assert (told["reward"], told["done"]) == (None, False)
    assert told["metadata"] == {"terminated": False, "truncated": False}


@given(st.text(max_size=40))
def test_a_plain_step_gives_its_action(action):
    message = {"type": "step", "data": {"message": action}}
    assert read_plain_step(json.dumps(message, ensure_ascii=False).encode()) in (action, None)
    if "\\" not in action and ":" not in action:
        assert read_plain_step(json.dumps(message, ensure_ascii=False).encode()) == action


def test_anything_else_is_no_plain_step():
    for text in (
        b'{"type":"step","data":{"message":"a","message":"b"}}',
        b'{"type":"step","data":{"message":"a"},"x":1}',
        b'{"type":"reset","data":{"message":"a"}}',
        b'{"type":"step","data":{"message":"\xff"}}',
        b"[]",
        b"",
    ):
        assert read_plain_step(text) is None
