"""Native tool calls of local models: tools in the template, results of role `tool`, sampled ids kept."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from verigym import RequestError
from verigym.agents.chat import StepRows, Transcript
from verigym.agents.loop import plan_groups, play
from verigym.agents.native_tools import calls_tool
from verigym.agents.rows import token_rows

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.agents.test_agents_chat import follows, letter_by_letter, parrot  # noqa: E402, F401

# As Qwen's: tools in the system message, results within a user turn, thoughts of a tool's caller kept.
QWEN = (
    "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for m in messages %}{% if m.role == 'tool' %}<|im_start|>user\n<tool_response>\n{{ m.content }}\n"
    "</tool_response><|im_end|>\n{% else %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_RESULTS = QWEN.replace("m.role == 'tool'", "false").replace(
    "{% else %}<|im_start|>",
    "{% elif m.role == 'tool' %}{{ raise_exception('no') }}{% else %}<|im_start|>",
)
SIX = '<tool_call>{"name": "calculator", "arguments":  {"expression": "2*3"}}</tool_call>'
PLANS = plan_groups("math/arithmetic", [3], env_kwargs={"tools": ["calculator"], "attempts": 2})


def played(policy, encoding):
    policy.max_context = 1 << 16  # the test model is never run
    return play(PLANS, policy, encoding)[0].turns


def test_tools_are_in_the_prompt_and_sampled_ids_stay(parrot):  # noqa: F811
    policy = parrot(QWEN)
    texts = [SIX, "<answer>0.5</answer>", "<answer>0.25</answer>"]
    policy.say([letter_by_letter(policy, text) for text in texts])
    turns = played(policy, Transcript(native_tools=True))
    prompts = [policy.tokenizer.decode(turn.prompt_ids) for turn in turns]
    assert '"name": "calculator"' in prompts[0].partition("<|im_end|>")[0]
    assert "<tool_response>\nResult of calculator:\n6\n</tool_response>" in prompts[1]
    # A wrong answer is no call, so what follows is the user's.
    assert prompts[2].count("<tool_response>") == 1
    assert all(follows(a, b) for a, b in pairwise(turns))
    (row,) = token_rows(turns)
    trained = [i for i, on in zip(row.ids, row.mask, strict=True) if on]
    assert trained == [i for ids in policy.script for i in ids]


def test_step_rows_offer_the_tools_in_each_prompt(parrot):  # noqa: F811
    policy = parrot(QWEN)
    policy.say([letter_by_letter(policy, text) for text in (SIX, "<answer>1</answer>", "x")])
    for turn in played(policy, StepRows(native_tools=True)):
        assert policy.tokenizer.decode(turn.prompt_ids).startswith("<|im_start|>system\n{")


def test_without_native_tools_the_template_gets_none(parrot):  # noqa: F811
    policy = parrot(QWEN)
    policy.say([letter_by_letter(policy, text) for text in (SIX, "<answer>1</answer>", "x")])
    turns = played(policy, Transcript())
    text = policy.tokenizer.decode(turns[1].prompt_ids)
    assert text.startswith("<|im_start|>user")
    assert "<tool_response>" not in text


def test_templates_without_the_role_or_without_tools(parrot):  # noqa: F811
    assert parrot(QWEN).role_of_results == "tool"
    assert parrot(NO_RESULTS).role_of_results == "user"
    policy = parrot("kept")
    policy.say([letter_by_letter(policy, "x")])
    with pytest.raises(RequestError, match="takes no tools"):
        played(policy, Transcript(native_tools=True))


def test_environments_without_tools_are_played_as_ever(parrot):  # noqa: F811
    policy = parrot("kept")
    policy.say([letter_by_letter(policy, "<answer>1</answer>")])
    plans = plan_groups("math/arithmetic", [3])
    (episode,) = play(plans, policy, Transcript(native_tools=True))
    assert len(episode.turns) == 1


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        (SIX, True),
        (f"<think>hm</think>{SIX}", True),
        (json.dumps({"role": "assistant", "tool_calls": [{"name": "a", "arguments": {}}]}), True),
        (f"<think>{SIX}</think>six", False),
        ("six", False),
        ("", False),
    ],
)
def test_what_counts_as_a_call(reply, calls):
    assert calls_tool(reply) is calls
