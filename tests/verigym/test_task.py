"""Tasks survive JSON, hide their reference, and have stable digests."""

import copy
import hashlib
import json
import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verigym import RequestError, Task
from verigym.canonical import digest, to_json

# Integers of 64 bits and finite floats: what JSON carries everywhere.
PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=10,
)
TASKS = st.builds(
    Task,
    id=st.text(),
    env_id=st.text(),
    seed=st.integers(0, 2**31),
    prompt=st.text(),
    difficulty=st.text(),
    split=st.sampled_from(["train", "validation", "test"]),
    tags=st.lists(st.text()).map(tuple),
    reference=PLAIN,
)


def task(**fields):
    base = {"id": "t", "env_id": "e", "seed": 1, "prompt": "p", "difficulty": "easy"}
    return Task(**{**base, **fields})


@given(TASKS)
def test_json_round_trip(original):
    again = Task.from_json(original.to_json())
    assert again == original
    assert again.to_json() == original.to_json()
    assert again.content == original.content
    assert json.loads(original.to_json())["reference"] == original.reference


@given(TASKS)
def test_the_public_form_has_everything_but_the_reference(original):
    public = original.public()
    assert set(public) == {"id", "env_id", "seed", "prompt", "difficulty", "split", "tags"}
    assert public["prompt"] == original.prompt


@given(TASKS)
def test_copies_are_equal_and_content_is_worked_out_anew(original):
    plain = original.to_json()
    assert original.content  # kept from here on, and no part of what is written or compared
    assert original.to_json() == plain
    copies = [copy.copy(original), copy.deepcopy(original), replace(original)]
    copies += [
        pickle.loads(pickle.dumps(original, n)) for n in range(2, pickle.HIGHEST_PROTOCOL + 1)
    ]
    for one in copies:
        assert one == original
        assert (one.content, one.to_json(), repr(one)) == (original.content, plain, repr(original))
    assert replace(original, prompt=f"{original.prompt}!").content != original.content


def test_a_task_stays_as_it_is():
    one = task()
    for field in fields(one):
        with pytest.raises(FrozenInstanceError):
            setattr(one, field.name, None)
    with pytest.raises((AttributeError, TypeError)):
        one.content = "another"
    assert hash(one) == hash(task())
    assert not hasattr(one, "__dict__")  # a run holds many


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", '{"id": 1}', b"nonsense"])
def test_malformed_json_is_the_caller_s_fault(data):
    with pytest.raises(RequestError, match="not a task"):
        Task.from_json(data)


def test_content_is_prompt_and_reference_alone():
    assert task(id="a", seed=1).content == task(id="b", seed=2, difficulty="hard").content
    assert task(prompt="a").content != task(prompt="b").content
    assert task(reference=1).content != task(reference=2).content


# Golden digests. They name stored verdicts, tasks and splits: a change here makes every stored run
# incomparable and moves tasks between splits, so it needs a new version of everything.
GOLDEN = [
    ((), "[]", "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
    ((None,), "[null]", "1d8fc6ceb1f94c6326d6d5483d258fcb2e179e9869325b245d105c2219bf69fd"),
    (
        ("a", 1, 2.5, True),
        '["a",1,2.5,true]',
        "34ee6c28d6e19f70a2b7c779f007f715bfe472c629bc9b1abe4825beda4b742c",
    ),
    (
        ({"b": [1, 2], "a": {"d": "é", "c": None}},),
        '[{"a":{"c":null,"d":"é"},"b":[1,2]}]',
        "823d0451c40921a00fadcad87157276df8de73aa9005efb3f28701dc25f964fb",
    ),
    (
        (1e100, -0.0, 0.1),
        "[1e100,-0.0,0.1]",
        "2546f88646600cebbe06c7c42b9c44024594cbe449c2811400a31c4b44cf0498",
    ),
]


@pytest.mark.parametrize(("values", "text", "expected"), GOLDEN)
def test_digests_are_stable(values, text, expected):
    assert to_json(values).decode() == text
    assert hashlib.sha256(text.encode()).hexdigest() == expected
    assert digest(*values) == expected


def test_the_content_digest_is_stable():
    assert task(prompt="2+2?", reference={"value": 4, "also": [1]}).content == (
        "35cff12eccec81b983d713d7a4fcd0e2d93827e17b0b6ffd80e6fd2ba5f51116"
    )


def test_canonical_json_is_sorted_compact_utf8():
    assert to_json({"b": 1, "a": [1.0, "é"]}) == '{"a":[1.0,"é"],"b":1}'.encode()
    assert to_json({"a": 1, "b": 2}) == to_json({"b": 2, "a": 1})


@given(PLAIN)
def test_equal_values_have_equal_digests(value):
    assert digest(value) == digest(json.loads(to_json(value)))


@pytest.mark.parametrize(
    "value", [object(), {1j}, "\ud800", {"k": "\udfff"}, math.nan, -math.inf, {1: 2}]
)
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(RequestError, match="cannot be written as JSON"):
        to_json(value)


def test_endless_nesting_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(RequestError, match="cannot be written as JSON"):
        to_json(endless)


def test_fields_left_out_of_the_json_are_as_their_defaults():
    short = Task.from_json('{"id":"t","env_id":"e","seed":1,"prompt":"p","difficulty":"d"}')
    whole = Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d")
    assert short == whole
    assert digest(short) == digest(whole)
