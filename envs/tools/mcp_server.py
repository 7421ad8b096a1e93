"""An environment over MCP: `serve(env)` gives a server; run as a program it talks over stdio.

    python -m verigym.envs.tools.mcp_server tools/office-v0 --seed 7 --difficulty easy

The first observation is in the server's instructions. One call is one action and costs a turn: a call of one of the
environment's tools goes to `Env.step` as JSON; an environment without tools has one, `act`, whose text is the action. The
answer is the next observation; `structured_content` has the reward and what `info` tells. Needs the extra `mcp`.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import verigym
from verigym.missing import raise_explained
from verigym.verdict import VerifierFault

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext
    from mcp.types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
    )


ACT: dict[str, Any] = {
    "name": "act",
    "description": "Play one action in the environment: the whole reply, as the prompt asks for it.",
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "description": "The action, or the whole reply."}
        },
        "required": ["action"],
        "additionalProperties": False,
    },
}
"""The tool of an environment that has none of its own."""


@runtime_checkable
class HasTools(Protocol):
    """An environment that publishes its tools."""

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools of the current task, as the OpenAI chat API takes them."""


def serve(env: verigym.Env[Any]) -> Server[Any]:
    """Return a server of `env`, which has been reset; whoever asked for it plays it alone.

    Raises RequestError if the extra is missing.
    """
    try:
        import anyio
        from anyio.to_thread import run_sync
        from mcp import types
        from mcp.server import Server
    except ImportError as error:
        raise_explained(error, "an MCP server")
    turn = anyio.Lock()
    over = False

    async def list_tools(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        functions = [ACT]
        if isinstance(env, HasTools):
            functions = [tool["function"] for tool in env.tools()]
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=function["name"],
                    description=function["description"],
                    input_schema=function["parameters"],
                )
                for function in functions
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        nonlocal over
        arguments = params.arguments or {}
        action = json.dumps({"name": params.name, "arguments": arguments})
        if not isinstance(env, HasTools):
            if params.name != ACT["name"] or not isinstance(arguments.get("action"), str):
                return _failed('call `act` with {"action": text}')
            action = arguments["action"]
        async with turn:
            if over:
                return _failed("the episode is over")
            try:
                # In a thread: a step may run programs.
                observation, reward, terminated, truncated, info = await run_sync(env.step, action)
            except VerifierFault as error:
                return _failed(f"nothing has happened, call again: {error}")
            over = terminated or truncated
        verdict = info["verdict"]
        told = {
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            **{name: info[name] for name in ("task_id", "state_key", "valid_action")},
            "digest": verdict.digest if verdict else None,
        }
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=observation)],
            structured_content=told,
            is_error=not info["valid_action"],
        )

    def _failed(message: str) -> CallToolResult:
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=message)], is_error=True
        )

    return Server(
        env.id,
        version=verigym.__version__,
        instructions="\n\n".join(filter(None, (env.task.prompt, env.view()))),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _talk(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main(arguments: list[str] | None = None) -> None:
    """Serve one episode over standard input and output."""
    parser = argparse.ArgumentParser(description="Serve one episode over MCP, on stdio.")
    parser.add_argument("env", help="Environment id, such as tools/office-v0 or games/keydoor.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--difficulty")
    parser.add_argument("--split", default="train")
    given = parser.parse_args(arguments)
    env = verigym.make(given.env, difficulty=given.difficulty, split=given.split)
    env.reset(seed=given.seed)
    server = serve(env)
    import anyio

    anyio.run(_talk, server)


if __name__ == "__main__":
    main()
