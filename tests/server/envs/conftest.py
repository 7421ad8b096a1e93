"""A plugin with environments that do as they are told, and a service that serves them."""

import asyncio
import contextlib
from functools import partial
from types import SimpleNamespace

import anyio.from_thread
import gymnasium
import httpx2
import pytest

from verigym import registry
from verigym.server.app import create_app
from verigym.server.settings import ServerSettings

ENV = "stage/obeys-v0"


@pytest.fixture(scope="module")
def stage(stage_folder):
    """The environments are registered, here and in processes started meanwhile; and three helpers."""
    caches = (
        *(registry._points, registry._load_verifier),
        *(registry.list_verifiers, registry.list_envs),
    )
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as opened:
        patch.syspath_prepend(stage_folder)
        patch.setenv("PYTHONPATH", str(stage_folder))
        for cached in caches:
            cached.cache_clear()
        registry.register_all()
        yield SimpleNamespace(
            play=partial(play, opened, []), begin=begin, step=step, running=running
        )
    for id in [id for id in gymnasium.registry if id.startswith("verigym/stage/")]:
        del gymnasium.registry[id]
    for cached in caches:
        cached.cache_clear()


@contextlib.asynccontextmanager
async def running(**settings):
    """An application, and a client without a socket."""
    chosen = {"verifiers": ("stage/count",), "envs": ("stage",), "workers": 1, "env_workers": 1}
    app = create_app(ServerSettings(**{**chosen, **settings}))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as http,
    ):
        yield app, http


async def begin(http, env=ENV, seed=7, **rest):
    """One new session, as the service describes it."""
    answer = await http.post("/v1/sessions", json={"env": env, "seed": seed, **rest})
    assert answer.status_code == 201, answer.text
    return answer.json()["sessions"][0]


async def step(http, sid, seq, action):
    """The answer to one action."""
    return await http.post(f"/v1/sessions/{sid}/step", json={"seq": seq, "action": action})


def play(opened, shared, main, **settings):
    """Return the result of `main(app, http)`, run within an application of these settings.

    All who ask for none share one, which runs until `opened` is closed: an application takes nearly
    a second of processor time to start.
    """

    async def inside():
        async with running(**settings) as (app, http):
            return await main(app, http)

    if settings:
        return asyncio.run(inside())
    if not shared:
        portal = opened.enter_context(anyio.from_thread.start_blocking_portal())
        app, http = opened.enter_context(portal.wrap_async_context_manager(running()))
        shared += [portal, app, http]
    portal, app, http = shared
    return portal.call(main, app, http)
