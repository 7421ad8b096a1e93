"""Has the real server package answer what `wire.jsonl` asks; prints the file anew.

Runs in the Python of that package, and knows nothing of Verigym: its environment gives what a recorded
trace holds, and fails as Verigym's does.

    python record.py TRACE.json < wire.jsonl
"""

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from fastmcp import FastMCP
from openenv.core.env_server import create_fastapi_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.types import Action, Observation, State

TRACE = json.loads(Path(sys.argv[1]).read_text())


class Message(Action):
    message: str


class Seen(Observation):
    message: str


class Where(State):
    env_id: str | None = None
    task_id: str | None = None
    state_key: str | None = None


class Replayed(MCPEnvironment):
    """Plays the trace, whatever is done."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        mcp = FastMCP("replayed")

        @mcp.tool
        def act(message: str) -> Any:
            return self._step_impl(None).model_dump()

        @mcp.tool
        def look() -> Any:
            return self._seen().model_dump()

        super().__init__(mcp)
        self.at = -1
        self.episode = None

    def _seen(self) -> Seen:
        row = TRACE["steps"][self.at]
        return Seen(**row)

    def reset(self, seed=None, episode_id=None, **rest):
        self.at = 0
        self.episode = episode_id
        return self._seen()

    def _step_impl(self, action, timeout_s=None, **rest):
        if self.at < 0:
            raise RuntimeError("call reset() first")
        if self.at + 1 == len(TRACE["steps"]):
            raise RuntimeError(TRACE["over"])
        self.at += 1
        return self._seen()

    def list_splits(self):
        return ["train", "validation", "test"]

    def num_tasks(self, split):
        return 2**31

    def get_task(self, split, index):
        if index < 0:
            raise IndexError(index)
        return {"id": f"{split}-{index}", "index": index}

    def get_task_range(self, split, start=None, stop=None):
        return [self.get_task(split, i) for i in range(2**31)[start:stop]]

    @property
    def state(self):
        if self.at < 0:
            return Where(env_id=TRACE["env_id"])
        metadata = TRACE["steps"][self.at]["metadata"]
        return Where(
            episode_id=self.episode,
            step_count=self.at,
            env_id=TRACE["env_id"],
            task_id=metadata["task_id"],
            state_key=metadata["state_key"],
        )


def main() -> None:
    os.environ.pop("OPENENV_MODE", None)
    app = create_fastapi_app(
        Replayed,
        Message,
        Seen,
        max_concurrent_envs=4,
        env_name=TRACE["env_id"].rpartition("/")[2],
        state_cls=Where,
    )
    with ExitStack() as stack:
        http = stack.enter_context(TestClient(app))
        sockets = {}
        for line in sys.stdin:
            row = json.loads(line)
            print(json.dumps(asked(row, http, sockets, stack)))


def asked(row, http, sockets, stack):
    """`row` with the answer; the same as in test_wire.py, of another server."""
    said = json.dumps(row["send"]) if "send" in row else row.get("text")
    if row["to"].startswith("ws "):
        path = row["to"].partition(" ")[2]
        if path not in sockets:
            sockets[path] = stack.enter_context(http.websocket_connect(path))
        sockets[path].send_text(said)
        return {**row, "answer": json.loads(sockets[path].receive_text())}
    method, path = row["to"].split(" ")
    headers = {"Content-Type": "application/json"}
    answer = http.request(method, path, content=said, headers=headers if said else {})
    return {**row, "status": answer.status_code, "answer": answer.json()}


if __name__ == "__main__":
    main()
