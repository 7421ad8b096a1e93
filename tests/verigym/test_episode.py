"""Episodes survive JSON, token ids included, and know their outcome."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import Episode, Fault, RequestError, Status, Turn, fault, scored

VERDICTS = st.one_of(
    st.none(),
    st.floats(0, 1).map(lambda score: scored(score, "r", parts={"a": score})),
    st.just(fault(Status.INFRA, "down")),
)
TOKENS = st.lists(
    st.tuples(st.integers(0, 200_000), st.floats(-100, 0), st.sampled_from([0, 1])), max_size=6
)


@st.composite
def turns(draw):
    tokens = draw(TOKENS)
    return Turn(
        observation=draw(st.text()),
        response=draw(st.text()),
        action=draw(st.text()),
        reward=draw(st.floats(0, 1)),
        state_key=draw(st.text(max_size=32)),
        valid_action=draw(st.booleans()),
        prompt_ids=draw(st.lists(st.integers(0, 200_000), max_size=6)),
        response_ids=[t[0] for t in tokens],
        logprobs=[t[1] for t in tokens],
        mask=[t[2] for t in tokens],
        verdict=draw(VERDICTS),
    )


def episode(**fields):
    base = {
        "id": "e",
        "env_id": "v",
        "task_id": "t",
        "seed": 1,
        "group_id": "g",
        "difficulty": "easy",
        "split": "train",
    }
    return Episode(**{**base, **fields})


def turn(reward, verdict=None):
    return Turn(
        observation="o", response="r", action="a", reward=reward, state_key="k", verdict=verdict
    )


@given(st.lists(turns(), max_size=4), st.booleans())
def test_json_round_trip(played, faulted):
    original = episode(
        turns=played,
        status="fault" if faulted else "done",
        fault=Fault(cause="timeout", detail="too slow") if faulted else None,
        versions={"verigym": "0"},
    )
    again = Episode.from_json(original.to_json())
    assert again == original
    assert again.to_json() == original.to_json()
    assert b"\n" not in original.to_json()


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff"])
def test_malformed_json_is_the_caller_s_fault(data):
    with pytest.raises(RequestError, match="not an episode"):
        Episode.from_json(data)


def test_token_fields_have_one_length():
    with pytest.raises(ValueError, match="equal lengths, got 1, 0, 0"):
        Turn(observation="", response="", action="", reward=0, state_key="", response_ids=[1])


def test_a_fault_is_named_if_and_only_if_there_is_one():
    with pytest.raises(ValueError, match="fault must be given if"):
        episode(status="fault")
    with pytest.raises(ValueError, match="fault must be given if"):
        episode(fault=Fault(cause="c", detail="d"))
    with pytest.raises(ValueError, match="status must be"):
        episode(status="lost")


def test_outcome():
    won = episode(turns=[turn(0.25), turn(1.0, scored(1.0, "correct"))])
    assert (won.return_, won.success) == (1.25, True)
    lost = episode(turns=[turn(0.5, scored(0.5, "half"))])
    assert not lost.success
    assert not episode().success
    assert episode().verdict is None


def test_a_faulted_episode_is_never_a_success():
    assert not episode(
        status="fault",
        fault=Fault(cause="infra", detail="d"),
        turns=[turn(1.0, scored(1.0, "correct"))],
    ).success
