"""Runs real servers of NeMo Gym on loopback: ours, its two agents, and a model whose replies are given.

python with_nemo.py < [{"row": {...}, "actions": [...]}, ...]
"""

import asyncio
import contextlib
import json
import socket
import sys

import httpx2
import uvicorn
from fastapi import FastAPI
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.server_utils import (
    GlobalAIOHTTPAsyncClientConfig,
    ServerClient,
    set_global_aiohttp_client,
)
from omegaconf import OmegaConf
from responses_api_agents.gymnasium_agent.app import GymnasiumAgent
from responses_api_agents.simple_agent.app import SimpleAgent

from verigym.trainers.exports.nemo_gym import VerigymServer, dataset_rows
from verigym.verdict import Status, fault

RESPONSE = {
    "id": "r",
    "created_at": 0,
    "model": "m",
    "object": "response",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


class Away:
    """A judge that gives no score."""

    def verify(self, task, submission):
        return fault(Status.INFRA, "gone", "the machine is away")


def response(text, number=0):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {
        "id": f"m{number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
    return {**RESPONSE, "output": [message]}


def call(action, number):
    arguments = json.dumps({"action": action})
    made = {"type": "function_call", "call_id": f"c{number}", "name": "act", "arguments": arguments}
    return {**RESPONSE, "output": [made]}


class Model:
    """A model server whose next replies are `said`."""

    def __init__(self):
        self.said = []

    def setup_webserver(self):
        app = FastAPI()

        @app.post("/v1/responses")
        async def responses(body: dict):
            return self.said.pop(0)

        return app


@contextlib.asynccontextmanager
async def serving(made, listening=None):
    """Serve on loopback; yield a client."""
    listening = listening or socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(made.setup_webserver(), log_level="error"))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        server.should_exit = True
        await task


def configured(made, places, **config):
    """Return a server of NeMo Gym that finds the others at `places`."""
    entry = {"host": "127.0.0.1", "port": 1, "entrypoint": "app.py"}
    others = {
        name: {kind: {name: {**entry, "port": port}}} for name, (kind, port) in places.items()
    }
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=1),
        global_config_dict=OmegaConf.create(others),
    )
    config_class = made.model_fields["config"].annotation
    return made(config=config_class(**entry, **config), server_client=client)


async def post(client, path, **body):
    done = await client.post(path, json=body)
    assert done.status_code == 200, done.text
    return done.json()


async def play_by_hand(client, row, actions):
    """Return what `/reset` and `/step` answer."""
    asked = {"responses_create_params": {"input": []}, **row}
    first = (await post(client, "/reset", **asked))["observation"]
    steps = []
    for action in actions:
        one = await post(client, "/step", **asked, response=response(action))
        verdict = one["info"]["verdict"]
        over = one["terminated"] or one["truncated"]
        steps.append([one["observation"], one["reward"], over, verdict and verdict["digest"]])
    client.cookies.clear()
    return {"first": first, "steps": steps}


async def find_errors(client, ours, row):
    """Return the statuses of what has no reward."""
    asked = {"responses_create_params": {"input": []}, **row}
    found = {}
    for start, path in (("/reset", "/step"), ("/seed_session", "/verify")):
        await post(client, start, **asked)
        for play, _ in ours.session_state.values():
            play.env.verifier = Away()
        done = await client.post(path, json={**asked, "response": response("7")})
        found[path] = [done.status_code, done.json()["detail"]]
        client.cookies.clear()
    await post(client, "/seed_session", **asked)
    for play, _ in ours.session_state.values():
        play.env.verifier = Away()
    await post(client, "/act", action="7")
    done = await client.post("/verify", json={**asked, "response": response("done")})
    found["/verify after /act"] = [done.status_code, done.json()["detail"]]
    client.cookies.clear()
    no_session = await client.post("/act", json={"action": "7"})
    found["no session"] = [no_session.status_code, no_session.json()["detail"]]
    options = await client.post("/reset", json={**asked, "options": '{"verifier":"http://x"}'})
    found["options"] = [options.status_code, options.json()["detail"]]
    return found


async def run_agents(given, model, port, model_port):
    """Return the rewards and observations of NeMo Gym's own agents."""
    listening = socket.create_server(("127.0.0.1", 0))
    places = {
        "verigym": ("resources_servers", port),
        "policy": ("responses_api_models", model_port),
        "caller": ("responses_api_agents", listening.getsockname()[1]),
    }
    settings = {
        "resources_server": {"type": "resources_servers", "name": "verigym"},
        "model_server": {"type": "responses_api_models", "name": "policy"},
    }
    player = configured(GymnasiumAgent, places, name="player", max_steps=50, **settings)
    caller = configured(SimpleAgent, places, name="caller", **settings)
    found = {"gymnasium_agent": [], "simple_agent": [], "one_reply": []}
    async with serving(player) as gymnasium, serving(caller, listening) as simple:
        for one in given:
            env, actions = one["row"]["env"], one["actions"]
            (row,) = dataset_rows(env, n=1, seed=one["row"]["seed"], agent="player")
            model.said = [response(action, i) for i, action in enumerate(actions)]
            ran = await post(gymnasium, "/run", **row)
            said = [*ran["responses_create_params"]["input"], *ran["response"]["output"]]
            shown = [item["content"] for item in said if item["role"] == "user"]
            digest = ran["info"]["verdict"] and ran["info"]["verdict"]["digest"]
            found["gymnasium_agent"].append([ran["reward"], digest, shown])
            (row,) = dataset_rows(env, n=1, seed=one["row"]["seed"], agent="caller", tool=True)
            model.said = [call(action, i) for i, action in enumerate(actions)]
            model.said.append(response("done"))
            ran = await post(simple, "/run", **row)
            shown = [row["responses_create_params"]["input"][0]["content"]]
            shown += [
                json.loads(item["output"]) for item in ran["response"]["output"] if "output" in item
            ]
            digest = ran["verdict"] and ran["verdict"]["digest"]
            found["simple_agent"].append([ran["reward"], digest, shown])
            if len(actions) == 1:
                model.said = [response(actions[0])]
                ran = await post(simple, "/run", **row)
                found["one_reply"].append([ran["reward"], ran["verdict"]["digest"]])
    return found


async def run(given):
    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
    model = Model()
    ours = configured(VerigymServer, {}, name="verigym", domain="games")
    idle = configured(VerigymServer, {}, name="idle", domain="games", session_idle_s=0.0)
    async with serving(ours) as client, serving(idle) as leaving, serving(model) as policy:
        found = {"by_hand": [await play_by_hand(client, **one) for one in given]}
        found["left"] = len(ours.session_state)
        found["errors"] = await find_errors(client, ours, given[0]["row"])
        ports = client.base_url.port, policy.base_url.port
        found["agents"] = await run_agents(given, model, *ports)
        for _ in range(3):
            await post(leaving, "/seed_session", **given[0]["row"])
            leaving.cookies.clear()
        found["idle"] = len(idle.session_state)
    return found


def main():
    given = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        found = asyncio.run(run(given))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
