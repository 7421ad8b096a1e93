"""One trace of actions means the same through every export: observations, rewards, ends and verdict digests."""

import asyncio
import json
from functools import cache

import pytest

import verigym
from verigym.envs.tools.mcp_server import HasTools, serve
from verigym.question import Question
from verigym.server.process import ServerProcess
from verigym.trainers.exports.jsonl import grade_lines
from verigym.trainers.exports.play import EpisodePlayer
from verigym.trainers.exports.rows import grade, row_of, start, task_rows
from verigym.trainers.exports.trl import ActEnvironment, verigym_reward

ENVS = (
    "math/counting",
    "code/stdio",
    "sql/questions",
    "tools/home",
    "search/hops",
    "games/keydoor",
)
"""An environment of each family."""
FAMILIES = pytest.mark.parametrize(
    "env_id",
    [
        # Programs, databases and an index of pages take seconds.
        pytest.param(name, marks=pytest.mark.slow)
        if name.startswith(("code/", "sql/", "search/"))
        else name
        for name in ENVS
    ],
)
WRONG_CALL = '<tool_call>{"name": "nonsense", "arguments": {}}</tool_call>'
NONSENSE = {"tools/home": WRONG_CALL, "search/hops": WRONG_CALL}
ACTIONS = pytest.mark.parametrize("wrong", [False, True], ids=["oracle", "wrong"])


@cache
def trace(env_id, wrong):
    """Return a task's row, the actions, and what the environment itself answers.

    The answer is the first observation and, for each step, observation, reward, end and digest. If `wrong`,
    nonsense comes first.
    """
    (row,) = task_rows(env_id, n=1, seed=7)
    with verigym.make(env_id, split=row["split"], difficulty=row["difficulty"]) as env:
        first, info = start(env, row)
        actions, steps, over = [], [], False
        while not over:
            is_wrong = wrong and not actions
            actions.append(NONSENSE.get(env_id, "nonsense") if is_wrong else env.oracle())
            shown, reward, terminated, truncated, told = env.step(actions[-1])
            over = terminated or truncated
            digest = told["verdict"].digest if told["verdict"] else None
            steps.append([shown, float(reward), over, digest])
    return row, actions, {"first": first, "steps": steps}, info["task_id"]


def last_digest(wanted):
    return next((digest for *_, digest in reversed(wanted["steps"]) if digest), None)


def total(wanted):
    return sum(reward for _, reward, _, _ in wanted["steps"])


@ACTIONS
@FAMILIES
def test_interactive_exports_in_this_process(env_id, wrong):
    row, actions, wanted, _ = trace(env_id, wrong)
    play = EpisodePlayer()
    first, _ = play.start(row)
    steps = []
    for action in actions:
        one = play.step(action)
        verdict = one.info["verdict"]
        steps.append([one.observation, one.reward, one.over, verdict.digest if verdict else None])
    assert {"first": first, "steps": steps} == wanted
    act = ActEnvironment()
    act.reset(**row, prompt="")
    assert [act.act(action) for action in actions] == [shown for shown, *_ in wanted["steps"]]
    assert act.reward == total(wanted)


def play_tokens(row, actions):
    """Return the row of tokens of a trace."""
    pytest.importorskip("transformers")
    from verigym.trainers.exports.tokens import TokenPlay, chat_tokens
    from verigym.trainers.tiny import build_tokenizer

    chat = chat_tokens(build_tokenizer())
    play = TokenPlay(row, chat, max_tokens=1 << 20)
    for action in actions:
        ids = [*chat.encode(action), chat.tokenizer.eos_token_id]
        play.answer(ids, [-0.5] * len(ids))
    return play


@ACTIONS
@FAMILIES
def test_token_rows(env_id, wrong):
    row, actions, wanted, _ = trace(env_id, wrong)
    play = play_tokens(row, actions)
    assert play.rewards == [reward for _, reward, _, _ in wanted["steps"]]
    assert play.over
    assert play.play.verdict.digest == last_digest(wanted)


@ACTIONS
@FAMILIES
def test_reward_only_exports(env_id, wrong):
    row, actions, wanted, task_id = trace(env_id, wrong)
    (line,) = grade_lines([{**json.loads(json.dumps(row)), "replies": actions}])
    assert (line["id"], line["reward"], line["over"]) == (task_id, total(wanted), True)
    assert line["verdict"]["digest"] == last_digest(wanted)
    with verigym.make(env_id) as env:
        is_one_turn = isinstance(env, Question)
    if is_one_turn and len(actions) == 1:
        (verdict,) = grade([row_of(row)], actions)
        assert (verdict.score, verdict.digest) == (total(wanted), last_digest(wanted))
        columns = {name: [value] for name, value in row.items()}
        completion = [{"role": "assistant", "content": actions[0]}]
        assert verigym_reward(2, completions=[completion], **columns) == [total(wanted)]


@ACTIONS
@FAMILIES
def test_mcp(env_id, wrong):
    pytest.importorskip("mcp", reason="pip install 'verigym[mcp]'")
    from mcp import Client

    row, actions, wanted, _ = trace(env_id, wrong)

    async def play(env):
        async with Client(serve(env)) as client:
            steps = []
            for action in actions:
                call = {"name": "act", "arguments": {"action": action}}
                if isinstance(env, HasTools):
                    call = json.loads(action.removeprefix("<tool_call>").partition("</")[0])
                result = await client.call_tool(call["name"], call["arguments"])
                told = result.structured_content
                over = told["terminated"] or told["truncated"]
                steps.append([result.content[0].text, told["reward"], over, told["digest"]])
            return {"first": client.instructions, "steps": steps}

    with verigym.make(env_id, split=row["split"], difficulty=row["difficulty"]) as env:
        start(env, row)
        assert asyncio.run(play(env)) == wanted


@pytest.mark.slow
def test_the_open_reward_standard(peer):
    asked, wanted = every_trace()
    served = [f"{env_id}-v0" for env_id in ENVS]
    with ServerProcess(envs=served, workers=1, options=["--ors"]) as server:
        assert peer("trl", "with_ors.py", server.url, given=asked) == wanted


@pytest.mark.slow
def test_prime(peer):
    runs = [prime_run(model, env_id) for env_id in ENVS for model in ("oracle", "wrong")]
    found = peer("prime", "with_prime.py", given=[given for given, _ in runs])["runs"]
    assert found == {given["model"]: [wanted] for given, wanted in runs}


def prime_run(model, env_id):
    """Return what Prime is asked to run, and the trace that it should record."""
    _, actions, wanted, task_id = trace(env_id, model == "wrong")
    # The last observation, after the end, is shown to nobody.
    observations = [wanted["first"], *(shown for shown, *_ in wanted["steps"][:-1])]
    given = {
        "model": f"{model}-{env_id.replace('/', '-')}",
        "taskset": {"envs": [env_id], "num_tasks": 1, "seed": 7},
        "replies": {wanted["first"]: actions},
    }
    return given, {
        "id": task_id,
        "value": total(wanted),
        "digest": last_digest(wanted),
        "shown": [text for turn in zip(observations, actions, strict=True) for text in turn],
        "ok": True,
        "errors": [],
    }


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [(0, 2, 4), (1, 3, 5)])
def test_inspect(peer, played, wrong):
    replies, wanted = played(ENVS, n=len(ENVS), wrong=wrong, seed=7)
    given = {"envs": ENVS, "n": len(ENVS), "seed": 7, "replies": replies}
    given |= {"difficulty": None, "options": {}}
    found = peer("inspect", "with_inspect.py", given=given)["play"]["samples"]
    # As Inspect orders its samples.
    wanted = sorted(wanted, key=lambda one: one["id"])
    assert [{**one, "reason": None} for one in found] == [{**one, "reason": None} for one in wanted]


def every_trace():
    """Return the row and actions of each trace, and what the environments themselves answer."""
    traces = [trace(env_id, wrong) for env_id in ENVS for wrong in (False, True)]
    asked = [{"row": row, "actions": actions} for row, actions, *_ in traces]
    return asked, [wanted for _, _, wanted, _ in traces]


@pytest.mark.slow
def test_skyrl_gym_and_gem(peer):
    asked, wanted = every_trace()
    found = peer("gyms", "with_gyms.py", given=asked)
    assert found["skyrl"] == wanted
    assert found["gem"] == wanted


@pytest.mark.slow
def test_nemo_gym(peer):
    asked, wanted = every_trace()
    found = peer("nemo", "with_nemo.py", given=asked)
    assert found["by_hand"] == wanted
    agents = found["agents"]
    for one, by_step, by_tool in zip(
        wanted, agents["gymnasium_agent"], agents["simple_agent"], strict=True
    ):
        shown = [one["first"], *(text for text, *_ in one["steps"])]
        # The last observation, after the end, is shown to nobody.
        assert by_step == [total(one), one["steps"][-1][3], shown[:-1]]
        assert by_tool == [total(one), last_digest(one), shown]
    one_turn = [one for one in wanted if len(one["steps"]) == 1]
    assert agents["one_reply"] == [[total(one), last_digest(one)] for one in one_turn]


@pytest.mark.slow
def test_verl(peer):
    asked, wanted = every_trace()
    # The environments whose tasks have one turn.
    graded = [i for i, one in enumerate(asked) if one["row"]["env"].startswith("verigym/math/")]
    found = peer(
        "verl", "with_verl.py", given={"traces": asked, "graded": [asked[i] for i in graded]}
    )
    for given, one, made in zip(asked, wanted, found["loop"], strict=True):
        play = play_tokens(**given)
        assert made == {
            "prompt_ids": play.prompt_ids,
            "response_ids": play.response_ids,
            "mask": play.mask,
            "reward": total(one),
            "rewards": [reward for _, reward, _, _ in one["steps"]],
            "rm_scores": total(one),
            "at_ends": [reward for _, reward, _, _ in one["steps"]],
            "digest": last_digest(one),
            "state_keys": play.state_keys,
            "versions": [1, len(one["steps"])],
            "logprob": sum(play.logprobs),
        }
    assert found["scores"] == [[total(wanted[i]), last_digest(wanted[i])] for i in graded]
