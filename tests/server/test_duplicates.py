"""Objects with a key twice, in every spelling and on every route that takes JSON."""

import asyncio
import json
import random

import httpx2
import pytest

from verigym.server.app import create_app
from verigym.server.duplicates import _has_duplicates, has_duplicates
from verigym.server.settings import ServerSettings

TWICE = [
    b'{"a":1,"a":2}',
    b'{"a" : 1, "a"\n:2}',
    b'{"x":[{"a":1,"\\u0061":2}]}',
    b'{"a\\"":1,"a\\u0022":2}',
    b'[{"":1,"":1}]',
    b'{"a":' + b"9" * 50 + b',"a":1}',
    b'{"a":"\\ud800","a":1}',
    b'{"a":"\\ud800","b":{"c":1,"c":2}}',
    b'{"a":"\\u003a","b":1,"b":2}',
    b'{"a":"\\u003A\\u003a","b":1,"b":2,"b":3}',
    b'{"a":{"b":1},"a":{"b":1}}',
]
ONCE = [
    b'{"a":":","b":"\\":\\"","c":"\\\\"}',
    b'{"a":{"a":{"a":1}}}',
    b'{"a":"\\u003a"}',
    b"[]",
    b"1",
    b'":"',
    b'{"":{"":1}}',
    b'{"a":' + b"9" * 5000 + b"}",
    b'{"a":"\\ud800","b":":"}',
    b'{"a":1e5,"b":0.1,"A":1}',
]


def test_keys_are_found_twice_however_they_are_written():
    for data in TWICE:
        assert has_duplicates(data), data
    for data in ONCE:
        assert not has_duplicates(data), data


@pytest.mark.slow
def test_the_quick_look_agrees_with_a_plain_reader():
    rng = random.Random(1)
    keys = ["a", "b", '":', "\\", '\\":', "x :", "é", '":"', "\n:", ""]

    def text(value):
        out = ""
        for c in value:
            escaped = f"\\u{ord(c):04x}" if rng.random() < 0.5 else f"\\u{ord(c):04X}"
            out += escaped if rng.random() < 0.3 else json.dumps(c, ensure_ascii=False)[1:-1]
        return f'"{out}"'

    def space():
        return rng.choice(["", "", "", " ", "\n", "\t ", "\r"])

    def value(depth):
        kind = rng.random() if depth else 1.0
        if kind < 0.5:
            pairs = (
                f"{space()}{text(rng.choice(keys))}{space()}:{space()}{value(depth - 1)}"
                for _ in range(rng.randint(0, 3))
            )
            return "{" + ",".join(pairs) + "}"
        if kind < 0.6:
            return "[" + ",".join(value(depth - 1) for _ in range(rng.randint(0, 3))) + "]"
        return rng.choice(["1", "1.5", "null", text(rng.choice(keys)), text(rng.choice(keys) * 2)])

    found = 0
    for _ in range(20_000):
        data = value(4).encode()
        assert has_duplicates(data) == _has_duplicates(data), data
        found += has_duplicates(data)
    assert 1000 < found < 10_000


TASK = '{"id":"t","env_id":"e","seed":1,"prompt":"p","difficulty":"d","reference":{"answer":"1"}}'
HIDDEN = TASK.replace('{"answer":"1"}', '{"answer":"1","answer":"2"}')
ASK = '{"verifier":"math/answer","task":%s,"submission":%s}'


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/verify", ASK % (TASK, '"1","submission":"2"')),
        ("/v1/verify", ASK % (HIDDEN, '"1"')),
        ("/v1/verify", ASK % (TASK, '{"a":1,"a":2}')),
        ("/v1/verify", ASK % (HIDDEN, '"\\ud800"')),
        ("/v1/verify/batch", f'{{"items":[{ASK % (TASK, 1)},{ASK % (HIDDEN, 1)}]}}'),
        ("/v1/verify/batch", '{"items":[],"items":[]}'),
        ("/v1/jobs", ASK % (HIDDEN, '"1"')),
        ("/v1/jobs", f'{{"items":[{ASK % (HIDDEN, 1)}]}}'),
        ("/v1/sessions", '{"env":"keydoor","env":"nim"}'),
        ("/v1/sessions", '{"env":"keydoor","options":{"split":"test","split":"train"}}'),
        ("/v1/sessions/x/step", '{"seq":1,"action":"a","action":"b"}'),
        ("/v1/sessions/x/reset", '{"seq":1,"seq":2}'),
        ("/v1/sandbox/run", '{"source":{"text":"1","text":"2"}}'),
        ("/v1/sandbox/sessions", '{"env":{"A":"1","A":"2"}}'),
        ("/v1/sandbox/sessions/x/run", '{"code":{"text":"1"},"code":{"text":"2"}}'),
        ("/v1/sandbox/sessions/x/files", '{"name":"a","name":"b"}'),
    ],
)
def test_every_route_refuses_them(routes, path, body):
    answer = routes(path, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["code"] == "duplicate_key"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/openenv/keydoor/reset", '{"seed":1,"seed":2}'),
        ("/openenv/keydoor/step", '{"action":{"message":"a","message":"b"}}'),
        ("/openenv/keydoor/mcp", '{"jsonrpc":"2.0","method":"tools/list","id":1,"id":2}'),
    ],
)
def test_so_do_those_of_openenv_in_their_own_words(routes, path, body):
    assert "repeat a key" in routes(path, body).text or "Parse error" in routes(path, body).text


@pytest.fixture(scope="module")
def routes():
    """Sends a body to a service in this process."""
    with asyncio.Runner() as runner:
        app = create_app(
            ServerSettings(
                verifiers=("math/answer",),
                envs=("games/keydoor-v0",),
                workers=1,
                env_workers=1,
                sandbox=True,
            )
        )
        life = app.router.lifespan_context(app)
        runner.run(life.__aenter__())
        http = httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1", timeout=60
        )

        def send(path, body):
            headers = {"Content-Type": "application/json"}
            return runner.run(http.post(path, content=body.encode(), headers=headers))

        yield send
        runner.run(http.aclose())
        runner.run(life.__aexit__(None, None, None))
