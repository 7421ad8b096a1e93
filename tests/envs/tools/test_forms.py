"""One recorded trace (record.py) through text, the OpenAI format and MCP: the same rewards and keys."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

import verigym
from verigym.envs.tools.mcp_server import serve

TRACE = json.loads(Path(__file__).with_name("trace.json").read_text())


def as_text(call):
    return f"I shall do that now.\n<tool_call>{json.dumps(call)}</tool_call>"


def as_message(call):
    function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return json.dumps({"role": "assistant", "content": None, "tool_calls": calls})


def as_tool_calls(call):
    return json.dumps([{"type": "function", "function": call}])


def as_fenced(call):
    return f"```json\n{json.dumps(call)}\n```"


def as_mistral(call):
    return f"[TOOL_CALLS][{json.dumps(call)}]"


def as_prose(call):
    return f"Here is the call: {json.dumps(call)}"


def as_qwen_coder(call):
    given = "".join(
        f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>\n"
        for key, value in call["arguments"].items()
    )
    return f"<tool_call>\n<function={call['name']}>\n{given}</function>\n</tool_call>"


FORMS = [
    json.dumps,
    as_text,
    as_message,
    as_tool_calls,
    as_fenced,
    as_mistral,
    as_prose,
    as_qwen_coder,
]


def started():
    env = verigym.make(TRACE["env"])
    _, info = env.reset(seed=TRACE["seed"], options={"difficulty": TRACE["difficulty"]})
    assert info["state_key"] == TRACE["start"]
    return env


def expected():
    return [
        (step["reward"], step["terminated"], step["valid_action"], step["state_key"])
        for step in TRACE["steps"]
    ]


@pytest.mark.parametrize("form", FORMS)
def test_the_trace_is_worth_the_same_in_every_form(form):
    env = started()
    found = []
    for step in TRACE["steps"]:
        observation, reward, terminated, _, info = env.step(form(step["call"]))
        assert observation == step["observation"]
        found.append((reward, terminated, info["valid_action"], info["state_key"]))
    assert found == expected()


def test_the_trace_holds_what_matters():
    steps = TRACE["steps"]
    assert [s["reward"] for s in steps] == [0.0] * (len(steps) - 1) + [1.0]
    assert {s["valid_action"] for s in steps} == {True, False}


def from_result(result):
    told = result.structured_content
    assert result.is_error is not told["valid_action"]
    return told["reward"], told["terminated"], told["valid_action"], told["state_key"]


async def through(server):
    from mcp import Client

    async with Client(server) as client:
        found = []
        names = {tool.name for tool in (await client.list_tools()).tools}
        for step in TRACE["steps"]:
            call = step["call"]
            result = await client.call_tool(call["name"], call["arguments"])
            assert result.content[0].text == step["observation"]
            found.append(from_result(result))
        after = await client.call_tool("finish", {})
        assert after.is_error
        assert after.content[0].text == "the episode is over"
        return client.instructions, names, found


def test_the_trace_is_worth_the_same_over_mcp():
    env = started()
    instructions, names, found = asyncio.run(through(serve(env)))
    assert instructions == env.task.prompt
    assert names == {tool["function"]["name"] for tool in env.tools()}
    assert found == expected()


@pytest.mark.slow  # the one before goes the same way within a process
def test_the_trace_is_worth_the_same_over_mcp_to_a_process_of_its_own():
    from mcp import StdioServerParameters

    command = ["-m", "verigym.envs.tools.mcp_server", TRACE["env"], "--seed", str(TRACE["seed"])]
    command += ["--difficulty", TRACE["difficulty"]]
    server = StdioServerParameters(command=sys.executable, args=command)
    assert asyncio.run(through(server))[2] == expected()


def test_a_fault_of_the_verifier_is_no_reward_over_mcp():
    env = started()
    verifier = env.verifier

    class Down(verigym.Verifier):
        id = verifier.id
        version = verifier.version

        def judge(self, task, submission):
            return verigym.fault(verigym.Status.INFRA, "down")

    async def play():
        from mcp import Client

        async with Client(serve(env)) as client:
            for step in TRACE["steps"][:-1]:
                await client.call_tool(step["call"]["name"], step["call"]["arguments"])
            env.verifier = Down()
            down = await client.call_tool("finish", {})
            env.verifier = verifier
            return down, await client.call_tool("finish", {})

    down, again = asyncio.run(play())
    assert down.is_error
    assert down.structured_content is None
    assert "call again" in down.content[0].text
    assert again.structured_content["reward"] == 1.0


def test_an_environment_without_tools_has_one_that_plays_an_action():
    env = verigym.make("keydoor")
    shown, _ = env.reset(seed=1)

    async def play():
        from mcp import Client

        async with Client(serve(env)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            wrong = [
                await client.call_tool("act", {"text": "up"}),
                await client.call_tool("up", {}),
            ]
            moved = await client.call_tool("act", {"action": "up"})
            return client.instructions, tools, wrong, moved

    instructions, tools, wrong, moved = asyncio.run(play())
    assert (instructions, tools) == (shown, ["act"])
    assert all(one.is_error and "call `act`" in one.content[0].text for one in wrong)
    env.reset(seed=1)
    observation, reward, *_, info = env.step("up")
    assert moved.content[0].text == observation
    assert moved.structured_content["reward"] == reward
    assert moved.structured_content["state_key"] == info["state_key"]
