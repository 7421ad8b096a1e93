"""No hidden reference leaves the service by any answer of the routes of environments."""

import asyncio
import json

import pytest

import verigym
from verigym import list_envs

ENVS = sorted(id for id in list_envs() if "/stage/" not in id)
FEW = tuple({id.split("/")[1]: id for id in reversed(ENVS)}.values())  # one of each family
REST = tuple(id for id in ENVS if id not in FEW)
TURNS = 3
LEAST = 24
"""Characters of a piece of a reference below which it may be part of any text."""


def pieces(reference):
    """Long texts in a reference, and its long lists as JSON."""
    if isinstance(reference, str):
        return {reference} if len(reference) >= LEAST else set()
    inner = reference.values() if isinstance(reference, dict) else reference
    if not isinstance(reference, dict | list | tuple):
        return set()
    found = set().union(*map(pieces, inner)) if inner else set()
    text = json.dumps(reference, separators=(",", ":"))
    return found | ({text} if len(text) >= LEAST else set())


def keys_in(value):
    """The names of fields; those of published tools are an environment's own."""
    if isinstance(value, dict):
        inner = [one for name, one in value.items() if name != "tools"]
        return set(value).union(*map(keys_in, inner))
    return set().union(*map(keys_in, value)) if isinstance(value, list) else set()


@pytest.fixture(scope="module")
def everything(request):
    """Environments with their answers, from one application."""
    from verigym.server.app import create_app
    from verigym.server.settings import ServerSettings

    async def main():
        import httpx2

        names = tuple(id.removeprefix("verigym/") for id in request.param)
        app = create_app(ServerSettings(verifiers=(), envs=names, workers=1, env_workers=1))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", timeout=120
            ) as http,
        ):
            return {id: await answers(http, id) for id in request.param}

    return asyncio.run(main())


async def answers(http, id):
    """Everything that can be heard of the environment `id`, played at random words."""
    made = await http.post("/v1/sessions", json={"env": id, "seed": 5})
    assert made.status_code == 201, made.text
    sid = made.json()["sessions"][0]["session"]
    heard = [made, await http.get(f"/v1/envs/{id}"), await http.get(f"/v1/sessions/{sid}")]
    heard.append(await http.get(f"/v1/envs/{id}/tasks?seeds=5,6"))
    for seq in range(1, TURNS + 1):
        body = {"seq": seq, "action": f"<answer>{seq}</answer>"}
        heard.append(await http.post(f"/v1/sessions/{sid}/step", json=body))
    heard.append(await http.post(f"/v1/sessions/{sid}/reset", json={"seq": 99}))
    return [answer.json() for answer in heard]


@pytest.mark.parametrize(
    ("everything", "id"),
    [
        *((FEW, id) for id in FEW),
        *(pytest.param(REST, id, marks=pytest.mark.slow) for id in REST),
    ],
    indirect=["everything"],
    ids=[*FEW, *REST],
)
def test_no_answer_holds_the_hidden_reference(everything, id):
    heard = everything[id]
    assert not any({"reference", "content"} & keys_in(answer) for answer in heard)
    task = verigym.make(id).sample_task(5)
    said = json.dumps(heard, separators=(",", ":"))
    hidden = {
        piece
        for piece in pieces(task.reference)
        if json.dumps(piece)[1:-1] not in json.dumps(task.prompt)
    }  # what the prompt shows is not hidden
    env = verigym.make(id)
    shown, info = env.reset(seed=5)
    shown += json.dumps(info.get("tools"), separators=(",", ":"))
    hidden = {piece for piece in hidden if piece not in shown}
    for piece in hidden:
        assert json.dumps(piece)[1:-1] not in said
        assert piece not in said
