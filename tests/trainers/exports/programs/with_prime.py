"""Evaluates recorded replies with Prime's own program and a stub of a model server; prints the traces of each run.

python with_prime.py < [{"model": ..., "taskset": {...}, "agent": {...}, "replies": {first prompt: [reply, ...]}}, ...]

A run without replies is validated instead: Prime's own program plays the solution and nothing.
"""

import contextlib
import importlib.metadata
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

RUNS = {run["model"]: run for run in json.load(sys.stdin)}
PACKAGES = {
    "vg_tasks": """
import verifiers.v1 as vf
from verigym.trainers.exports.prime import LocalEnv, VerigymConfig, VerigymHarness, VerigymTask, VerigymTaskset

class TasksConfig(VerigymConfig):
    envs: list[str] = ["games/keydoor"]

class TasksTaskset(VerigymTaskset, vf.Taskset[VerigymTask, TasksConfig]):
    pass

__all__ = ["LocalEnv", "TasksTaskset", "VerigymHarness"]
""",
    "one_reply": """
import httpx2
import verifiers.v1 as vf

class OneReply(vf.Harness[vf.HarnessConfig]):
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}) as http:
            asked = {"model": ctx.model, "messages": [{"role": "user", "content": data.prompt}]}
            response = await http.post(f"{endpoint}/chat/completions", json=asked)
        return vf.ProgramResult(0, response.text, "")

__all__ = ["OneReply"]
""",
}


class Model(BaseHTTPRequestHandler):
    """Replies as recorded, by the model's name, the first message and the number of replies so far."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages = asked["messages"]
        turn = sum(message["role"] == "assistant" for message in messages)
        text = RUNS[asked["model"]]["replies"][messages[0]["content"]][turn]
        message = {"role": "assistant", "content": text}
        body = {
            "id": "one",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


def evaluate(model, run, url):
    """Run Prime's evaluation; return its traces in the order of tasks."""
    from verifiers.v1.cli.eval.main import main

    settings = {
        "model": model,
        "env": {
            "taskset": {"id": "vg-tasks", **run["taskset"]},
            "agent": run.get("agent", {}),
        },
        "client": {"base_url": url, "api_key_var": "VG_KEY"},
        "rich": None,
        "push": False,
        "run": {"name": model},
    }
    Path(f"{model}.json").write_text(json.dumps(settings))
    with contextlib.redirect_stdout(sys.stderr):
        main(["@", f"{model}.json"])
    lines = Path(f"outputs/{model}/traces.jsonl").read_text().splitlines()
    traces = [trace for line in lines for trace in json.loads(line)["traces"]]
    return [
        shown(trace) for trace in sorted(traces, key=lambda trace: trace["task"]["data"]["idx"])
    ]


def validate(name, run):
    """Run Prime's validation; return the number of tasks by outcome."""
    from verifiers.v1.cli.validate import main

    settings = {
        "taskset": run["taskset"],
        "runtime": {"type": "subprocess"},
        "rich": False,
        "run": {"name": name},
    }
    Path(f"{name}.json").write_text(json.dumps(settings))
    with contextlib.redirect_stdout(sys.stderr):
        main(["@", f"{name}.json"])
    return json.loads(Path(f"outputs/{name}/summary.json").read_text())["outcomes"]


def shown(trace):
    """Return what a test compares."""
    reward = trace["rewards"].get("outcome")
    found = trace["info"].get("verigym", {})
    return {
        "id": trace["task"]["data"]["id"],
        "value": reward and reward["score"],
        "digest": (found.get("verdict") or {}).get("digest"),
        "shown": [node["message"]["content"] for node in trace["nodes"]],
        "ok": trace["ok"],
        "errors": [f"{error['type']}: {error['message']}" for error in trace["errors"]],
    }


def run_all():
    for name, text in PACKAGES.items():
        Path(f"{name}.py").write_text(text)
    sys.path.insert(0, os.getcwd())
    os.environ["VG_KEY"] = "key"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    found = {
        model: evaluate(model, run, url) if "replies" in run else validate(model, run)
        for model, run in RUNS.items()
    }
    server.shutdown()
    return found


if __name__ == "__main__":
    print(json.dumps({"version": importlib.metadata.version("verifiers"), "runs": run_all()}))
