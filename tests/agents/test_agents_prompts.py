"""Prompts that callers choose: system prompts, budgets, thoughts, parsing, thinking switches."""

from __future__ import annotations

import pytest

from verigym import RequestError
from verigym.agents.chat import Conversation, Prompt, StepRows, Transcript
from verigym.agents.loop import plan_groups, play
from verigym.agents.parsing import parser
from verigym.agents.policies.thinking import thinking_switch
from verigym.agents.policy import Completion
from verigym.agents.prompts import (
    PromptChoices,
    encoding_for,
    read_prompts,
    read_text,
    write_prompts,
)


def talk(**changes):
    return Conversation(
        **{
            "task_prompt": "Reach 3 .",
            "observations": ["at 0", "at 1"],
            "actions": ["up"],
            "completions": [Completion(text="<think>hm</think>up")],
            "prompts": [Prompt(messages=[{"role": "user", "content": "Reach 3 .\n\nat 0"}])],
            "max_turns": 6,
            **changes,
        }
    )


def test_step_rows_state_system_prompt_and_budgets():
    encoding = StepRows(system_prompt="Be brief.", show_turns=True, show_tokens=True)
    system, user = encoding.messages(talk(), 64)
    assert system["content"] == "Be brief.\n\nReach 3 ."
    assert user["content"].endswith(
        "Now:\nat 1\nTurn 2 of 6.\nYour reply may have at most 64 tokens, thinking included."
    )
    system, user = StepRows(system_prompt="Be brief.", system=False).messages(talk())
    assert (system["content"], user["content"][:9]) == ("Be brief.", "Reach 3 .")
    bare = talk(observations=[""], actions=[], completions=[], prompts=[], max_turns=1)
    assert StepRows(show_turns=True).messages(bare) == [
        {"role": "user", "content": "Reach 3 .\nTurn 1 of 1."}
    ]
    with pytest.raises(RequestError, match="max_new_tokens"):
        encoding.messages(talk())


def test_thoughts_are_kept_or_dropped():
    assert "Action: up" in StepRows().messages(talk())[-1]["content"]
    assert "<think>hm</think>up" in StepRows(thoughts="keep").messages(talk())[-1]["content"]
    assert Transcript().messages(talk())[1]["content"] == "<think>hm</think>up"
    assert Transcript(thoughts="drop").messages(talk())[1]["content"] == "up"


def test_transcript_opens_with_the_system_prompt():
    first = talk(observations=["at 0"], actions=[], completions=[], prompts=[])
    messages = Transcript(system_prompt="Be brief.", show_turns=True).messages(first)
    assert [m["role"] for m in messages] == ["system", "user"]
    assert messages[1]["content"] == "Reach 3 .\n\nat 0\nTurn 1 of 6."


@pytest.mark.parametrize(
    ("name", "reply", "action"),
    [
        ("tag", "<think><action>no</action></think> so <action>up</action>", "up"),
        ("tag", "up", ""),
        ("tag", "<answer>up</answer> Wait, ignore that.", ""),
        ("fence", "first\n```\na\n```\nthen\n```py\nb\n```\n", "b"),
        ("fence", "no fence", ""),
        ("last-line", "I go\n\nup \n", "up"),
        ("last-line", "<think>up", ""),
    ],
)
def test_parsers(name, reply, action):
    assert parser(name)(reply) == action


def test_play_uses_the_parser_of_the_encoding(counter, make_verifier):
    class Says:
        name, max_batch = "says", 8

        def complete(self, requests):
            return [Completion(text="I shall go\nstop") for _ in requests]

    plans = plan_groups(counter(), [3], env_kwargs={"verifier": make_verifier()})
    (episode,) = play(plans, Says(), StepRows(parse="last-line"))
    assert [turn.action for turn in episode.turns] == ["stop"]


def test_choices_change_the_trained_prompts(tmp_path):
    class Trained:
        prompts = StepRows(history=0, show_task=False)

    assert encoding_for(Trained()) == Trained.prompts
    changed = encoding_for(Trained(), PromptChoices(history=2, show_turns=True))
    assert changed == StepRows(history=2, show_task=False, show_turns=True)
    assert encoding_for(Trained(), PromptChoices(encoding="transcript")) == Transcript()
    assert encoding_for(object()) == StepRows()
    with pytest.raises(RequestError, match="history is for encoding steps"):
        PromptChoices(encoding="transcript", history=1).apply(None)
    for encoding in (changed, Transcript(system_prompt="x", thoughts="drop", parse="tag")):
        write_prompts(tmp_path, encoding, "off")
        assert read_prompts(tmp_path) == (encoding, "off")


def test_system_prompts_come_from_files(tmp_path):
    path = tmp_path / "system.txt"
    path.write_text("Be brief.\n")
    assert read_text(f"@{path}") == "Be brief."
    assert read_text("Be brief.") == "Be brief."
    with pytest.raises(RequestError, match="cannot be read"):
        read_text(f"@{tmp_path / 'absent.txt'}")


@pytest.mark.parametrize(
    ("think", "template", "found"),
    [
        ("auto", "{{ x }}", {}),
        ("on", "{% if enable_thinking is defined %}{% endif %}", {"enable_thinking": True}),
        ("off", "{%- if thinking %}x{% endif %}", {"thinking": False}),
        ("off", "thinking {{ m['thinking'] }}", None),
        ("no", "{{ enable_thinking }}", None),
    ],
)
def test_thinking_switches(think, template, found):
    if found is None:
        with pytest.raises(RequestError, match="think"):
            thinking_switch(think, template, "m")
    else:
        assert thinking_switch(think, template, "m") == found
