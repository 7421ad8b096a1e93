"""Policies by name."""

from __future__ import annotations

import json

import pytest

from verigym.agents.make_policy import make_policy
from verigym.agents.policies.oracle import OraclePolicy
from verigym.agents.policies.random import RandomPolicy
from verigym.agents.policy import Request
from verigym.agents.sampling import generator, uniforms
from verigym.env import CHARSET


def test_simple_policies_by_name():
    assert make_policy("oracle").name == "oracle"
    assert make_policy("random", temperature=None).name == "random"


@pytest.mark.parametrize("kind", ["json", "txt"])
def test_scripts_from_files(tmp_path, kind):
    path = tmp_path / f"moves.{kind}"
    path.write_text(json.dumps(["up", "stop"]) if kind == "json" else "up\nstop\n")
    policy = make_policy(f"scripted:{path}")
    asked = [Request(messages=[], key=(0, 0, turn)) for turn in range(2)]
    assert [m.text for m in policy.complete(asked)] == ["up", "stop"]
    assert policy.name == f"scripted:moves.{kind}"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("orakel", "did you mean 'oracle'"),
        ("", "policies: oracle, random"),
        ("oracle:now", "must be written oracle"),
        ("scripted", "must be written scripted:FILE"),
        ("scripted:/no/such/file", "cannot be read"),
        ("hf:/no/such/folder", "does not exist"),
        ("openai:model", "must be written openai:MODEL@URL"),
        ("openai:model@nowhere", "base_url must be like"),
    ],
)
def test_what_cannot_be_made_says_why(spec, message, refused):
    pytest.importorskip("torch")
    with refused(message):
        make_policy(spec)


def test_unknown_options_are_refused_with_a_suggestion(refused, tmp_path):
    pytest.importorskip("torch")
    with refused("did you mean 'temperature'"):
        make_policy(f"hf:{tmp_path}", temprature=1.0)
    with refused("takes no options, got temperature"):
        make_policy("oracle", temperature=1.0)


def test_a_script_must_be_a_list_of_texts(tmp_path, refused):
    path = tmp_path / "moves.json"
    path.write_text('{"up": 1}')
    with refused("must hold a JSON list of texts"):
        make_policy(f"scripted:{path}")


def test_policies_that_look_inside_need_the_environment(refused):
    for policy in (OraclePolicy(), RandomPolicy()):
        with refused("needs the live environment"):
            policy.complete([Request(messages=[])])


def test_random_texts_where_actions_cannot_be_listed(counter, make_verifier):
    env = counter(legal_actions=lambda self, state: None)(verifier=make_verifier())
    env.reset(seed=1)
    asked = [Request(messages=[], env=env, key=(0, i)) for i in range(50)]
    texts = [m.text for m in RandomPolicy().complete(asked)]
    assert all(0 < len(t) <= 32 and set(t) <= CHARSET for t in texts)
    assert len(set(texts)) > 40
    assert texts == [m.text for m in RandomPolicy().complete(asked)]


def test_keys_of_any_length_and_sign_draw_apart():
    keys = [(), (0,), (0, 0), (1,), (1, 0), (-1,), (2**70,), (12,), (1, 2)]
    rows = uniforms(keys, 3)
    assert len({tuple(row) for row in rows}) == len(keys)
    assert ((rows >= 0) & (rows < 1)).all()
    assert generator((1, 2)).random() == rows[-1, 0]
    # A longer draw begins with the shorter one, so a larger limit samples the same tokens first.
    assert (uniforms(keys, 9)[:, :3] == rows).all()
