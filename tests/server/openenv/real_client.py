"""Plays a trace with the real client package, in whose own Python this runs; prints what it saw.

python real_client.py URL < {"seed": ..., "actions": [...]}
"""

import asyncio
import importlib.metadata
import json
import sys

from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient


def seen(result):
    observation = result.observation
    metadata = getattr(result, "metadata", None)  # since 0.10
    return {
        "message": observation["message"],
        "reward": result.reward,
        "done": result.done,
        "metadata": observation["metadata"] if metadata is None else metadata,
    }


def blocking(url, seed, actions):
    client = GenericEnvClient(base_url=url).sync()
    with client:
        steps = [seen(client.reset(seed=seed, episode_id="mine"))]
        steps += [seen(client.step({"message": action})) for action in actions]
        state = client.state()
        try:
            client.step({"message": "once more"})
        except RuntimeError as error:
            over = str(error)
        try:
            client.step({"massage": "?"})
        except RuntimeError as error:
            wrong = str(error)
        again = seen(client.reset(split="test", index=3))
    return {"steps": steps, "state": state, "over": over, "wrong": wrong, "again": again}


async def many(url, seed, actions):
    """Play four sessions at once, each like the one above."""

    async def one():
        async with GenericEnvClient(base_url=url) as client:
            steps = [seen(await client.reset(seed=seed))]
            for action in actions:
                steps.append(seen(await client.step({"message": action})))
            return steps

    return await asyncio.gather(*(one() for _ in range(4)))


async def with_tools(url, seed, actions):
    async with MCPToolClient(base_url=url) as client:
        names = [tool.name for tool in await client.list_tools()]
        await client.reset(seed=seed)
        told = [await client.call_tool("look")]
        told += [await client.call_tool("act", message=action) for action in actions]
        state = await client.state()
        try:
            await client.call_tool("fly")
        except RuntimeError as error:
            unknown = str(error)
        return {"names": names, "told": told, "steps": state.step_count, "unknown": unknown}


def main():
    url = sys.argv[1]
    asked = json.load(sys.stdin)
    seed, actions = asked["seed"], asked["actions"]
    found = {
        "version": importlib.metadata.version("openenv"),
        "blocking": blocking(url, seed, actions),
        "many": asyncio.run(many(url, seed, actions)),
        "tools": asyncio.run(with_tools(url, seed, actions)),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
