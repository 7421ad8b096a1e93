"""Path of a reply to the environment and its verifier."""

import json

import pytest

import verigym
from verigym.agents.loop import Plan, play
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.verdict import Status

TAGS = {"verifier": "text/format", "params": {"tags": ["think", "answer"]}}


@pytest.fixture
def gated(tmp_path):
    """A dataset whose answers are paid in the form that is asked for only."""
    rows = [{"q": f"What is {n} + {n}?", "a": str(2 * n)} for n in range(1, 40)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = tmp_path / "sums.toml"
    file.write_text(
        """
id = "verigym/data/gated-sums-v0"
verifier = "compose/gate"
oracle = "<think>add</think><answer>{answer}</answer>"

[params]
of = [{ verifier = "text/format", params = { tags = ["think", "answer"] } }, { verifier = "math/answer" }]

[source]
path = "rows.jsonl"

[fields]
prompt = "{q}"
reference = { answer = "{a}" }

[clean]
near = 1
"""
    )
    return verigym.make(str(file))


def played(env, reply):
    (episode,) = play([Plan(id="one", env=env.id, seed=3)], ScriptedPolicy([reply]))
    return episode


def test_a_format_reward_is_paid_in_runs_as_by_step(gated):
    gated.reset(seed=3)
    right = gated.task.reference["answer"]
    reply = f"<think>I add them.</think><answer>{right}</answer>"
    _, reward, *_ = gated.step(reply)
    episode = played(gated, reply)
    assert (reward, episode.turns[0].reward) == (1.0, 1.0)
    assert episode.turns[0].action == reply
    assert played(gated, f"<answer>{right}</answer>").turns[0].reward == 0.0


def test_a_reply_too_long_to_be_judged_whole_is_judged_without_its_thoughts():
    env = verigym.make("math/arithmetic")
    env.reset(seed=1)
    thought = "<think>" + "so " * (env.max_action_chars // 3 + 1) + "</think>"
    _, reward, *_, info = env.step(thought + env.oracle())
    assert (reward, info["verdict"].status) == (1.0, Status.OK)


@pytest.mark.parametrize(
    "reply",
    [
        "{}",
        "<think>Or down?</think>{}",
        "Or down?</think>\n\n{}",
        "<THINK>Or <action>down</action>?</THINK><action>{}</action><|im_end|>",
    ],
)
def test_an_environment_acts_on_what_was_said(reply):
    env = verigym.make("games/keydoor")
    env.reset(seed=5)
    _, _, _, _, plain = env.step(env.oracle())
    env.reset(seed=5)
    env_action = env.oracle()
    _, _, _, _, info = env.step(reply.format(env_action))
    assert info["valid_action"]
    assert info["state_key"] == plain["state_key"]
