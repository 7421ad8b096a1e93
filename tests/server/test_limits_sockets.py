"""Misuse of connections, over raw sockets: clients that are slow, silent, deaf, malformed or too
many."""

import asyncio
import contextlib
import json
import socket
import subprocess

import pytest

from verigym import Task
from verigym.server import connections, run
from verigym.server.app import create_app
from verigym.server.settings import ServerSettings

PLAIN_TASK = json.loads(
    Task(id="t", env_id="e", seed=1, prompt="p", difficulty="d", reference="hush").to_json()
)
HEAD = b"POST /v1/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = (
    b"GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
LONG_S = 60.0


def ask(do="nothing", **rest):
    item = {"verifier": "unruly/obeys", "task": PLAIN_TASK, "submission": {"do": do, **rest}}
    body = json.dumps(item).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body


@contextlib.asynccontextmanager
async def served(**settings):
    """The service on a free port of this process; gives the server and the address."""
    chosen = ServerSettings(port=0, workers=1, verifiers=("unruly/obeys",), **settings)
    app = create_app(chosen)
    ready = asyncio.Event()
    with run.listen(chosen.host, chosen.port) as listener:
        server = run.Server(app, chosen, ready.set)
        serving = asyncio.create_task(server._serve([listener]))  # without its signal handlers
        await ready.wait()
        try:
            yield server, listener.getsockname()
        finally:
            server.should_exit = True
            await serving


async def opened(address):
    return await asyncio.wait_for(asyncio.open_connection(*address), LONG_S)


async def answer(reader):
    """The status, headers and body of one answer."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LONG_S)
    line, *rest = head.decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (one.partition(":") for one in rest if one)}
    body = await reader.readexactly(int(headers["content-length"]))
    return int(line.split()[1]), headers, json.loads(body)


async def assert_closed(reader):
    with contextlib.suppress(ConnectionResetError):
        assert await asyncio.wait_for(reader.read(), LONG_S) == b""


def one(data, **settings):
    """The answer to `data` on a connection that must be closed after it."""

    async def main():
        async with served(**settings) as (_, address):
            return await told(address, data)

    return asyncio.run(main())


async def told(address, data):
    reader, writer = await opened(address)
    writer.write(data)
    said = await answer(reader)
    await assert_closed(reader)
    writer.close()
    return said


def assert_refusal(said, status, code):
    assert (said[0], said[2]["error"]["code"]) == (status, code)
    assert set(said[2]["error"]) == {"code", "message", "where"}
    assert said[1]["content-type"] == "application/json"


@pytest.mark.parametrize("data", [b"", b"\r\n", b"GET", HEAD[:-5], HEALTH[:-2]])
def test_a_head_that_does_not_come_is_cut_off(unruly, monkeypatch, data):
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.1)
    assert_refusal(one(data), 408, "slow_headers")


def test_a_second_head_that_does_not_come_is_cut_off(unruly, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.1)

    async def main():
        async with served() as (_, address):
            reader, writer = await opened(address)
            writer.write(HEALTH)
            assert (await answer(reader))[0] == 200
            writer.write(b"\r\n")
            assert_refusal(await answer(reader), 408, "slow_headers")
            await assert_closed(reader)
            writer.close()

    asyncio.run(main())


def test_a_body_that_does_not_come_is_cut_off(unruly):
    data = HEAD + b"Content-Length: 10\r\n\r\n{"
    assert_refusal(one(data, body_timeout_s=0.1), 408, "slow_body")


def test_a_body_that_nobody_reads_must_end(unruly, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", 0.1)

    async def main():
        async with served() as (_, address):
            reader, writer = await opened(address)
            writer.write(HEALTH[:-2] + b"Content-Length: 10\r\n\r\n{")
            assert (await answer(reader))[0] == 200
            await assert_closed(reader)
            writer.close()

    asyncio.run(main())


def test_an_answer_that_is_not_read_is_cut_off(unruly, monkeypatch):
    monkeypatch.setattr(connections, "UNREAD_TIMEOUT_S", 0.1)

    async def main():
        async with served() as (server, address):
            with socket.socket() as deaf:
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.setblocking(False)
                loop = asyncio.get_running_loop()
                await loop.sock_connect(deaf, address)
                request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
                async with asyncio.timeout(LONG_S):
                    while not server.server_state.connections:
                        await asyncio.sleep(0)
                    # The answers are far more than all buffers take.
                    await loop.sock_sendall(deaf, request * 300)
                    while server.server_state.connections:  # until the service has had enough
                        await asyncio.sleep(0.01)

    asyncio.run(main())


@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"X: " + b"x" * (1 << 17),
        b"GET /" + b"x" * (1 << 17),
        HEAD + b"".join(b"X%d: y\r\n" % i for i in range(20_000)),
    ],
)
def test_a_head_is_bounded(unruly, data):
    assert_refusal(one(data), 431, "head_too_large")


SMUGGLED = {
    "both lengths": HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    "a negative length": HEAD + b"Content-Length: -1\r\n\r\n",
    "a length with a sign": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "a length that overflows": HEAD + b"Content-Length: 99999999999999999999\r\n\r\n",
    "a chunk of no size": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "an encoding that is not the last": HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n",
    "a space before the colon": HEAD + b"Content-Length : 2\r\n\r\n{}",
    "a folded header": HEAD + b"X: a\r\n b\r\n\r\n",
    "a NUL": HEAD + b"X: a\0b\r\n\r\n",
    "bare carriage returns": HEAD.replace(b"\r\n", b"\r") + b"\r",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100,
    "another version": b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "no path": b"GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a tunnel": b"CONNECT example.com:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "an unknown method": b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a path of bytes": b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


def test_what_is_not_quite_http_is_refused(unruly):
    async def main():
        async with served() as (_, address):
            return {name: await told(address, data) for name, data in SMUGGLED.items()}

    codes = {
        name: (status, body["error"]["code"])
        for name, (status, _, body) in asyncio.run(main()).items()
    }
    assert codes == dict.fromkeys(SMUGGLED, (400, "malformed_http"))


@pytest.mark.parametrize("header", [b"Host: evil.example", b"Host: localhost"])
def test_two_hosts_are_refused(unruly, header):
    data = HEALTH[:-2] + header + b"\r\nConnection: close\r\n\r\n"
    assert_refusal(one(data), 400, "malformed_http")


def test_pipelined_requests_are_answered_in_order(unruly):
    async def main():
        async with served() as (_, address):
            reader, writer = await opened(address)
            writer.write(ask() + HEALTH + ask("raise"))
            said = [await answer(reader) for _ in range(3)]
            writer.close()
            return said

    first, second, third = asyncio.run(main())
    assert (first[2]["status"], second[2]["status"]) == ("ok", "ok")
    assert third[2]["status"] == "verifier_error"


def test_connections_are_bounded(unruly, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)
    monkeypatch.setattr(connections, "_SPARE_CONNECTIONS", 1)

    async def main():
        async with served() as (_, address):
            kept = [await opened(address) for _ in range(2)]
            for reader, writer in kept:
                writer.write(HEALTH)
                assert (await answer(reader))[0] == 200
            reader, writer = await opened(address)
            dropped, other = await opened(address)
            await assert_closed(dropped)
            writer.write(HEALTH)
            assert_refusal(await answer(reader), 503, "too_many_connections")
            await assert_closed(reader)
            for _, one in [*kept, (reader, writer), (dropped, other)]:
                one.close()

    asyncio.run(main())


def test_websockets_are_not_counted_as_connections(unruly, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)

    async def main():
        async with served(envs=("games/keydoor-v0",), env_workers=1) as (_, address):
            sockets = []
            for _ in range(3):
                reader, writer = await opened(address)
                writer.write(UPGRADE)
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LONG_S)
                assert head.startswith(b"HTTP/1.1 101 ")
                sockets.append(writer)
            reader, writer = await opened(address)
            writer.write(HEALTH)
            assert (await answer(reader))[0] == 200
            for one in [*sockets, writer]:
                one.close()

    asyncio.run(main())


def test_tls_by_file(unruly, tmp_path):
    import ssl

    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )

    async def main():
        async with served(tls_cert=str(cert), tls_key=str(key)) as (_, address):
            trust = ssl.create_default_context(cafile=str(cert))
            reader, writer = await asyncio.open_connection(
                *address, ssl=trust, server_hostname="localhost"
            )
            writer.write(HEALTH)
            said = await answer(reader)
            writer.close()
            reader, plain = await opened(address)
            plain.write(HEALTH)
            await assert_closed(reader)
            plain.close()
            return said

    assert asyncio.run(main())[0] == 200


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        + b"".join(b"X-%d: a\r\n" % n for n in range(8000))
        + b"\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        HEALTH + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 70_000 + b"\r\n\r\n",
    ],
)
def test_a_head_that_is_too_large_is_refused_also_in_one_piece(unruly, head):
    async def main():
        async with served() as (_, address):
            reader, writer = await opened(address)
            writer.transport.set_write_buffer_limits(1 << 20)
            writer.write(head)  # loopback takes it as one
            said = await answer(reader)
            assert said[1]["x-content-type-options"] == "nosniff"
            await assert_closed(reader)
            writer.close()
            return said

    said = asyncio.run(main())
    if head.startswith(HEALTH):  # the first is answered, and the connection ends
        assert said[0] == 200
    else:
        assert_refusal(said, 431, "head_too_large")


def test_a_head_of_the_size_that_is_allowed_is_read(unruly):
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-A: "
    said = one(head + b"a" * 65_000 + b"\r\n\r\n")
    assert said[0] == 200
    assert said[1]["x-content-type-options"] == "nosniff"
