"""The application without a socket: what only happens when it is full, stopping or broken."""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3

import httpx2
import pytest

from verigym import ConfigError, Task, make_verifier
from verigym.server.app import create_app
from verigym.server.settings import ServerSettings

TASK = json.loads(
    Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference="hush").to_json()
)
KEY = "correct-horse"


def ask(do, **rest):
    return {"verifier": "unruly/obeys", "task": TASK, "submission": {"do": do, **rest}}


@contextlib.asynccontextmanager
async def running(**settings):
    app = create_app(ServerSettings(workers=1, verifiers=("unruly/obeys",), **settings))
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        yield app, http


def test_a_service_with_a_cache_says_the_same(unruly, tmp_path):
    path = tmp_path / "verdicts.sqlite"

    async def main():
        async with running(cache_mib=1, cache_file=str(path)) as (app, http):
            first, again = [
                (await http.post("/v1/verify", json=ask("nothing"))).json() for _ in range(2)
            ]
            return first, again, app.state.service.pool.cache.hits

    first, again, hits = asyncio.run(main())
    assert (first, hits) == (again, 1)
    wanted = make_verifier("unruly/obeys").verify(
        Task.from_json(json.dumps(TASK)), {"do": "nothing"}
    )
    assert first == wanted.to_builtins()
    with contextlib.closing(sqlite3.connect(path)) as disk:
        assert disk.execute("SELECT digest FROM verdicts").fetchall() == [(first["digest"],)]
    with pytest.raises(ConfigError, match="cache_mib"):
        ServerSettings(cache_mib=-1)


def test_a_full_queue_is_429(unruly, tmp_path):
    fifo = tmp_path / "pid"
    os.mkfifo(fifo)

    async def main():
        async with running(max_queue=1, max_batch=1) as (app, http):
            hang = asyncio.create_task(
                http.post("/v1/verify", json=ask("hang", at=str(fifo)), timeout=60)
            )
            worker = int(await asyncio.to_thread(fifo.read_text))
            queued = asyncio.create_task(http.post("/v1/verify", json=ask("nothing"), timeout=60))
            while not app.state.service.pool.waiting:
                await asyncio.sleep(0)
            refused = await http.post("/v1/verify", json=ask("nothing"))
            assert (await http.get("/healthz")).json()["waiting"] == 1
            os.kill(worker, signal.SIGKILL)
            os.kill(int(await asyncio.to_thread(fifo.read_text)), signal.SIGKILL)
            return refused, await hang, await queued

    refused, hang, queued = asyncio.run(main())
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "busy")
    assert refused.headers["Retry-After"] == "1"
    assert hang.json()["status"] == "infra"
    assert queued.json()["score"] == 1.0


def test_a_stopped_pool_is_503(unruly):
    async def main():
        async with running() as (app, http):
            await asyncio.to_thread(app.state.service.pool.close)
            return await http.post("/v1/verify", json=ask("nothing"))

    answer = asyncio.run(main())
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "stopping")


def test_a_bug_is_500_without_a_trace(unruly, monkeypatch):
    async def main():
        async with running() as (app, http):

            def broken(*args, **options):
                raise RuntimeError("hush, in /etc/passwd")

            monkeypatch.setattr(app.state.service.pool, "submit", broken)
            return await http.post("/v1/verify", json=ask("nothing"))

    answer = asyncio.run(main())
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "hush" not in answer.text
    assert "/" not in answer.text


def test_a_body_that_never_comes_is_408(unruly):
    async def main():
        async with running(body_timeout_s=0.05) as (app, _):
            sent = []

            async def receive():
                await asyncio.Event().wait()

            async def send(message):
                sent.append(message)

            scope = {
                "type": "http",
                "method": "POST",
                "path": "/v1/verify",
                "raw_path": b"/v1/verify",
                "query_string": b"",
                "scheme": "http",
                "http_version": "1.1",
                "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
            }
            await app(scope, receive, send)
            return sent

    start, body = asyncio.run(main())
    assert start["status"] == 408
    assert json.loads(body["body"])["error"]["code"] == "slow_body"


def test_a_key_is_needed_where_one_is_set(unruly):
    async def main():
        async with running(key=KEY) as (_, http):
            answers = []
            for given in (
                *(None, "", KEY, f"Basic {KEY}", "Bearer", "Bearer wrong", f"Bearer {KEY}x"),
                f"Bearer {KEY}",
            ):
                headers = {"Host": "judge.example"}
                if given is not None:
                    headers["Authorization"] = given
                for call in (
                    http.get("/v1/verifiers", headers=headers),
                    http.post("/v1/verify", json=ask("nothing"), headers=headers),
                    http.get("/v1/nothing", headers=headers),
                ):
                    answers.append((await call).status_code)
            health = await http.get("/healthz", headers={"Host": "judge.example"})
            return answers, health.status_code

    answers, health = asyncio.run(main())
    assert answers[:-3] == [401] * 21
    assert answers[-3:] == [200, 200, 404]
    assert health == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.7", "judge.example"])
def test_other_addresses_than_loopback_need_a_key(host):
    with pytest.raises(ConfigError, match="a key is needed"):
        ServerSettings(host=host)
    assert ServerSettings(host=host, key=KEY).key == KEY
    assert KEY not in repr(ServerSettings(host=host, key=KEY))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost"])
def test_loopback_needs_none(host):
    assert ServerSettings(host=host).key is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"port": 70000}, "port"),
        ({"workers": 0}, "workers"),
        ({"key": ""}, "key"),
        ({"key": "two words"}, "key"),
        ({"timeout_s": 900.0}, "max_timeout_s"),
        ({"max_batch": 5000}, "max_queue"),
    ],
)
def test_settings_that_cannot_be(wrong, message):
    with pytest.raises(ConfigError, match=message):
        ServerSettings(**wrong)


def test_globs_choose_verifiers(unruly):
    assert ServerSettings(verifiers=("unruly",)).verifier_ids() == [
        "unruly/obeys",
        "unruly/picky",
        "unruly/unloadable",
    ]
    assert ServerSettings(verifiers=("*/countdown", "unruly/p*")).verifier_ids() == [
        "math/countdown",
        "unruly/picky",
    ]
    with pytest.raises(ConfigError, match="did you mean 'unruly/obeys'"):
        ServerSettings(verifiers=("unruly/obey",)).verifier_ids()
