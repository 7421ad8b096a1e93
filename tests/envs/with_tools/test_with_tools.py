"""Environments of one turn with tools, attempts and reflection."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import gymnasium
import pytest

import verigym
from verigym import RequestError
from verigym.agents.loop import plan_groups, play
from verigym.agents.policies.scripted import ScriptedPolicy
from verigym.agents.replay import replay
from verigym.envs.check.run import LAWS, apply
from verigym.envs.check.subject import Subject
from verigym.envs.with_tools.aids import find_aids
from verigym.envs.with_tools.corpus import Corpus
from verigym.envs.with_tools.read import BadCall, ToolCall, read_call
from verigym.trainers.config import parse_config
from verigym.trainers.tasks import TRAIN, Tasks

SUM = "math/arithmetic"
AIDS = find_aids(["python", "calculator"], None)


def call(name: str, **arguments: str) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


SIX = call("calculator", expression="2*3")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        (SIX, ToolCall("calculator", "2*3")),
        (f"Let me see. {SIX}", ToolCall("calculator", "2*3")),
        (f"<think>hm</think>{SIX}", ToolCall("calculator", "2*3")),
        (f"<answer>{SIX}</answer>", ToolCall("calculator", "2*3")),
        (
            json.dumps(
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "type": "function",
                            "function": {"name": "python", "arguments": '{"code": "1"}'},
                        }
                    ],
                }
            ),
            ToolCall("python", "1"),
        ),
        # Answers, though they speak of calls.
        (f"<think>{SIX}</think><answer>6</answer>", None),
        (f"{SIX} so <answer>6</answer>", None),
        ("<answer>6</answer>", None),
        (f"<answer>6</answer> No, ignore that. {SIX}", "takes back"),
        ("", None),
        ('{"name": "Ann", "arguments": 3}', None),
        ('{"a": 1}', None),
        ("```python\nprint(6)\n```", None),
        ("python(code='1')", None),
        # Calls that cannot be made.
        (call("wiki", q="x"), "no tool 'wiki'"),
        (call("python", cod="1"), "no argument 'cod'"),
        ('<tool_call>{"name": "python"', "cannot be read"),
        (SIX + SIX, "one call per reply"),
    ],
)
def test_a_reply_is_a_call_or_the_answer(reply, read):
    found = read_call(reply, AIDS)
    if isinstance(read, str):
        assert isinstance(found, BadCall)
        assert read in found.why
    else:
        assert found == read


def test_without_tools_every_reply_is_an_answer():
    assert read_call(SIX, {}) is None


def test_tools_run_and_answers_are_paid_less_after_wrong_ones():
    env = verigym.make(SUM, tools=["python", "calculator"], attempts=3)
    prompt, _ = env.reset(seed=3)
    assert '<tool_call>{"name": "python"' in prompt
    assert "You have 9 replies in all." in prompt
    assert env.step(call("python", code="x = 6 * 7\nx"))[:3] == (
        "Result of python:\n42",
        0.0,
        False,
    )
    assert env.step(call("python", code="print(x + 1)"))[0] == "Result of python:\n43"
    assert env.step(SIX)[0] == "Result of calculator:\n6"
    wrong = env.step("<answer>123456</answer>")
    assert wrong[:3] == ("That is not right. This is attempt 2 of 3.", 0.0, False)
    assert wrong[4]["verdict"].score == 0.0
    unread = env.step("")
    assert unread[0].startswith("No answer could be read")
    assert not unread[4]["valid_action"]
    view, reward, terminated, _, info = env.step(env.oracle())
    assert (view, terminated, info["verdict"].score) == ("That is right.", True, 1.0)
    assert reward == pytest.approx(0.49)


def test_the_last_wrong_attempt_ends_the_episode_and_listing_does_not_help():
    env = verigym.make(SUM, attempts=2)
    env.reset(seed=3)
    every = " ".join(f"<answer>{n}</answer>" for n in range(-50, 200))
    listed = f"<answer>{', '.join(map(str, range(-50, 200)))}</answer>"
    assert env.step(listed)[1:3] == (0.0, False)
    assert env.step(every)[1:3] == (0.0, True)
    with pytest.raises(RequestError, match="over"):
        env.step(env.oracle())


def test_turns_without_an_answer_earn_nothing():
    env = verigym.make(SUM, tools=["calculator"], max_turns=2)
    env.reset(seed=3)
    env.step(SIX)
    _, reward, _, truncated, info = env.step(SIX)
    assert (reward, truncated, info["verdict"].score) == (0.0, True, 0.0)


def test_reflections_are_not_judged():
    env = verigym.make(SUM, attempts=2, reflect=True)
    env.reset(seed=3)
    assert "what may have gone wrong" in env.step("<answer>0.5</answer>")[0]
    assert env.oracle() == "I shall work it out again."
    view, reward, terminated, _, info = env.step(f"<answer>{env.task.reference['answer']}</answer>")
    assert (view, reward, terminated) == ("This is attempt 2 of 2.", 0.0, False)
    assert info["verdict"] is None
    assert env.step(env.oracle())[1] == pytest.approx(0.7)


def test_the_task_is_judged_as_without_tools_and_feedback_names_no_answer():
    plain, env = verigym.make("math/word-problems"), verigym.make("math/word-problems", attempts=3)
    for seed in range(5):
        plain.reset(seed=seed)
        env.reset(seed=seed)
        assert env.task.prompt.startswith(plain.task.prompt)
        assert (env.task.id, env.task.reference) == (plain.task.id, plain.task.reference)
        reply = "<answer>987654</answer>"
        expected = plain.step(reply)[4]["verdict"]
        view, _, _, _, info = env.step(reply)
        assert info["verdict"].digest == expected.digest
        assert view == "That is not right. This is attempt 2 of 3."


def test_snapshots_pickles_and_specs_continue():
    env = verigym.make(SUM, tools=["python"], attempts=2)
    env.reset(seed=3)
    env.step(call("python", code="x = 5"))
    saved = env.snapshot()
    other = pickle.loads(pickle.dumps(env))
    again = gymnasium.make(env.spec).unwrapped
    again.reset(seed=9)
    again.restore(saved)
    for one in (env, other, again):
        assert one.step(call("python", code="x + 1"))[0] == "Result of python:\n6"
        assert one.step("<answer>0.5</answer>")[2] is False
        assert one.step(one.oracle())[1] == pytest.approx(0.7)
    env.restore(saved)
    assert env.state_key() == pickle.loads(pickle.dumps(env)).state_key()


def test_state_keys_are_history_free():
    env = verigym.make(SUM, tools=["calculator"], attempts=2)
    keys = []
    for calls in (["2*3"], ["1", "6"], ["2+4"]):
        env.reset(seed=3)
        for text in calls:
            info = env.step(call("calculator", expression=text))[4]
        keys.append(info["state_key"])
    assert len(set(keys)) == 1
    assert env.step("<answer>0.5</answer>")[4]["state_key"] != keys[0]


class _Wrapped(Subject):
    def make(self, **kwargs):
        chosen = {"tools": ["calculator"], "attempts": 2, "reflect": True, **kwargs}
        return verigym.make(self.id, **chosen)


QUICK = {
    "info_always_has_its_keys",
    "episodes_are_bounded",
    "seeds_give_different_tasks",
    "splits_share_no_content",
    "a_seed_decides_the_task",
    "snapshots_continue_identically",
    "a_failed_step_can_be_repeated",
    "the_oracle_earns_full_marks",
    "the_answer_is_hidden",
    "equal_keys_have_equal_futures",
    "keys_have_no_history",
    "it_is_pure",
}


@pytest.mark.parametrize(
    "law", [law for law in LAWS if law.__name__ in QUICK], ids=lambda law: law.__name__
)
def test_the_laws_of_environments_hold(law):
    assert apply(law, _Wrapped("verigym/math/arithmetic-v0", 2)).broken is None


def test_episodes_replay_identically():
    replies = [SIX, "<answer>0.5</answer>", "<answer>1</answer>"]
    plans = plan_groups(SUM, [4], env_kwargs={"tools": ["calculator"], "attempts": 2}, split="test")
    (episode,) = play(plans, ScriptedPolicy(replies))
    assert len(episode.turns) == 3
    assert episode.env_kwargs == {"tools": ["calculator"], "attempts": 2}
    assert replay(episode).outcome == "same"


def test_a_corpus_is_searched(tmp_path: Path):
    (tmp_path / "lakes.md").write_text(
        "Mj\u00f8sa is the largest lake of Norway.\n\n" + "Filler. " * 200
    )
    (tmp_path / "hills.txt").write_text("Hills are high.")
    (tmp_path / "image.png").write_bytes(b"\xff")
    found = Corpus.read(str(tmp_path)).search("largest lake of Norway")
    assert found.startswith("[1] lakes.md\nMj?sa is the largest lake of Norway.")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"title": "T", "text": "a lake"}\n\n{"text": "a hill"}\n')
    env = verigym.make(SUM, tools=["search"], corpus=str(rows))
    env.reset(seed=1)
    assert env.step(call("search", query="lake"))[0] == "Result of search:\n[1] T\na lake"
    assert "No passage" in env.step(call("search", query="zebra"))[0]


@pytest.mark.parametrize(
    ("env_id", "arguments", "said"),
    [
        (SUM, {"tools": ["pyhton"]}, "did you mean 'python'"),
        (SUM, {"tools": "python"}, "list of names"),
        (SUM, {"tool": ["python"]}, "did you mean 'tools'"),
        (SUM, {"tools": ["search"]}, "needs a corpus"),
        (SUM, {"corpus": "x"}, "add it to tools"),
        (SUM, {"tools": ["search"], "corpus": "/no/such"}, "does not exist"),
        (SUM, {"attempts": 0}, "attempts must be"),
        (SUM, {"attempts": 65}, "attempts must be"),
        (SUM, {"reflect": True}, "at least 2 attempts"),
        ("games/keydoor", {"attempts": 2}, "environments of one turn"),
        ("tools/call", {"tools": ["python"]}, "tools of its own"),
    ],
)
def test_what_cannot_be_combined_is_refused(env_id, arguments, said):
    with pytest.raises(RequestError, match=said):
        verigym.make(env_id, **arguments)


def test_a_run_names_tools_in_its_configuration():
    env = {"id": SUM, "tools": ["python"], "attempts": 2, "reflect": True}
    plan = Tasks(parse_config({"env": env})).plans(TRAIN, 1, 1, 1, "train")[0]
    assert plan.env_kwargs == {"tools": ["python"], "attempts": 2, "reflect": True}
    with pytest.raises(RequestError, match="did you mean 'python'"):
        Tasks(parse_config({"env": {**env, "tools": ["pyton"]}}))


def test_programs_cannot_read_files_of_the_machine(tmp_path: Path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"q": "Capital of Norway?", "a": "secret-word"}\n')
    env = verigym.make(SUM, tools=["python"])
    env.reset(seed=1)
    code = f"print(open({str(rows)!r}).read())"
    assert "FileNotFoundError" in env.step(call("python", code=code))[0]
