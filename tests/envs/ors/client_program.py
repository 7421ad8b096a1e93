"""Plays a server with the client of the package openreward; its address is the first argument."""

import sys

from openreward import OpenReward

url = sys.argv[1]
client = OpenReward(base_url=url, api_key="none")
env = client.environments.get(name="verigym", variant="math-arithmetic-v0", base_url=url)
assert [tool.name for tool in env.list_tools()] == ["act"], env.list_tools()
assert env.num_tasks("train") == 2**31
task = env.get_task("train", 1)
with env.session(task=task) as session:
    (block,) = session.get_prompt()
    assert "<answer>" in block.text
    assert [tool.name for tool in session.list_tools()] == ["act"]
    output = session.call_tool("act", {"action": "<answer>none</answer>"})
    assert (output.reward, output.finished) == (0.0, True), output
    refused = ""
    try:
        session.call_tool("act", {"action": "<answer>none</answer>"})
    except Exception as error:  # noqa: BLE001 - its class is the package's own
        refused = str(error)
    assert "ended" in refused, refused
game = client.environments.get(name="verigym", variant="games-keydoor-v0", base_url=url)
with game.session(task=game.get_task("train", 3)) as session:
    session.get_prompt()
    output = session.call_tool("act", {"action": "up"})
    assert output.finished is False
    assert output.blocks[0].text
print("played")
