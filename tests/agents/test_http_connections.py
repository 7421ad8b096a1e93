"""Connections that stay open, against real sockets: reuse, faults, TLS and proxies."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess

import httpx2
import pytest

from verigym.agents.event_loop import EventLoop
from verigym.agents.http_answer import BadAnswer
from verigym.agents.http_connections import HostConnections

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


class Server:
    """Plays `script`: for each connection, the bytes to answer each request with; None closes it."""

    def __init__(self, *script, tls=None):
        self.script = list(script)
        self.tls = tls
        self.requests = []
        self.connections = 0
        self.writers = []

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for writer in self.writers:
            writer.transport.abort()
        for _ in range(5):  # until everyone has heard of it
            await asyncio.sleep(0.001)

    async def serve(self, reader, writer):
        self.writers.append(writer)
        answers = self.script[min(self.connections, len(self.script) - 1)]
        self.connections += 1
        for answer in answers:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            self.requests.append(head + await reader.readexactly(size))
            if answer is None:
                break
            writer.write(answer)
        writer.close()


def connections_to(server, scheme="http", limit=4):
    return HostConnections(f"{scheme}://127.0.0.1:{server.port}", headers={"A": "b"}, limit=limit)


async def ask(server, times, limit=4):
    made = connections_to(server, limit=limit)
    try:
        return [await made.post("/v1/x", b"{}", 5.0) for _ in range(times)]
    finally:
        made.close()


def test_requests_in_turn_share_a_connection():
    async def main():
        async with Server([OK] * 3) as server:
            answers = await ask(server, 3)
            assert [answer.body for answer in answers] == [b"hi"] * 3
            assert server.connections == 1
            assert server.requests[0].startswith(b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1:")
            assert b"\r\nA: b\r\n" in server.requests[0]
            assert server.requests[0].endswith(b"\r\nContent-Length: 2\r\n\r\n{}")

    asyncio.run(main())


def test_a_connection_that_was_closed_while_idle_is_replaced():
    async def main():
        async with Server([OK, None], [OK]) as server:
            assert [answer.body for answer in await ask(server, 2)] == [b"hi"] * 2
            assert (server.connections, len(server.requests)) == (2, 3)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([None], ConnectionError),
        ([OK[:-1], OK], TimeoutError),
        ([b"SSH-2.0-x\r\n\r\n"], BadAnswer),
        ([OK + OK], BadAnswer),
    ],
)
def test_faults_are_raised_and_the_connection_is_not_used_again(answers, error):
    async def main():
        async with Server(answers, [OK]) as server:
            made = connections_to(server)
            with pytest.raises(error):
                await made.post("/", b"", 0.2)
            assert (await made.post("/", b"", 5.0)).body == b"hi"
            assert server.connections == 2
            made.close()

    asyncio.run(main())


def test_bytes_that_nobody_asked_for_are_never_an_answer():
    async def main():
        async with Server([OK], [OK.replace(b"hi", b"ho")]) as server:
            made = connections_to(server)
            await made.post("/", b"", 5.0)
            (idle,) = made._idle
            idle.data_received(OK.replace(b"hi", b"no"))
            assert (await made.post("/", b"", 5.0)).body == b"ho"
            made.close()

    asyncio.run(main())


def test_no_more_connections_than_the_limit():
    async def main():
        async with Server([OK] * 9) as server:
            made = connections_to(server, limit=2)
            await asyncio.gather(*(made.post("/", b"", 5.0) for _ in range(9)))
            assert server.connections == 2
            made.close()

    asyncio.run(main())


def test_a_request_that_is_cancelled_closes_its_connection():
    async def main():
        async with Server([b"", OK]) as server:
            made = connections_to(server)
            task = asyncio.ensure_future(made.post("/", b"", 5.0))
            while not server.requests:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)
            assert not made._open
            assert not made._idle

    asyncio.run(main())


@pytest.fixture
def certificate(tmp_path, monkeypatch):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "1", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1,DNS:models.test"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    trusted = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    monkeypatch.setattr(httpx2, "create_ssl_context", lambda: trusted)
    return context


def test_tls_with_a_trusted_certificate_and_only_with_one(certificate, monkeypatch):
    async def main(trusts):
        async with Server([OK, OK], tls=certificate) as server:
            made = connections_to(server, "https")
            if trusts:
                assert (await made.post("/", b"", 5.0)).body == b"hi"
                assert (await made.post("/", b"", 5.0)).body == b"hi"
                assert server.connections == 1
            else:
                with pytest.raises(ssl.SSLCertVerificationError):
                    await made.post("/", b"", 5.0)
            made.close()

    asyncio.run(main(True))
    monkeypatch.undo()
    asyncio.run(main(False))


def test_a_proxy_is_used_where_the_environment_names_one(certificate, monkeypatch):
    """A plain request goes to it whole; TLS through a tunnel, in which the proxy sees nothing."""

    async def main():
        async with Server([OK, OK]) as proxy, Server([OK], tls=certificate) as target:
            seen = []

            async def tunnel(reader, writer):
                seen.append(await reader.readuntil(b"\r\n\r\n"))
                from_target, to_target = await asyncio.open_connection("127.0.0.1", target.port)
                proxy.writers += [writer, to_target]
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

                async def copy(source, sink):
                    while data := await source.read(65536):
                        sink.write(data)
                    sink.close()

                await asyncio.gather(copy(reader, to_target), copy(from_target, writer))

            other = await asyncio.start_server(tunnel, "127.0.0.1", 0)
            port = other.sockets[0].getsockname()[1]
            monkeypatch.setenv("http_proxy", f"http://us%40er:pw@127.0.0.1:{proxy.port}")
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
            monkeypatch.delenv("no_proxy", raising=False)

            plain = HostConnections("http://models.test:81/v1", headers={}, limit=1)
            assert (await plain.post("/v1/x", b"", 5.0)).body == b"hi"
            assert proxy.requests[0].startswith(b"POST http://models.test:81/v1/x HTTP/1.1\r\n")
            assert b"Proxy-Authorization: Basic dXNAZXI6cHc=\r\n" in proxy.requests[0]
            plain.close()

            secret = HostConnections("https://models.test/v1", headers={"Key": "k"}, limit=1)
            assert (await secret.post("/v1/x", b"", 5.0)).body == b"hi"
            assert seen == [b"CONNECT models.test:443 HTTP/1.1\r\nHost: models.test:443\r\n\r\n"]
            assert target.requests[0].startswith(b"POST /v1/x HTTP/1.1\r\nHost: models.test\r\n")
            secret.close()

            own = connections_to(target, "https")
            assert own._proxy is None
            other.close()

    asyncio.run(main())


def test_a_header_cannot_hold_a_second_one():
    with pytest.raises(ValueError, match="line break"):
        HostConnections("http://127.0.0.1:1", headers={"A": "b\r\nC: d"}, limit=1)


def test_work_begun_on_a_loop_reports_and_may_be_cancelled():
    loop = EventLoop("test")
    found = []

    async def work(value):
        await asyncio.sleep(0 if value else 3600)
        return value

    async def fail():
        raise OSError("no")

    loop.begin(work(7), found.append)
    loop.begin(fail(), found.append)
    cancel = loop.begin(work(0), found.append)
    cancel()
    assert loop.run(work(1)) == 1
    loop.begin(work(0), found.append)
    loop.close()
    assert 7 in found
    kinds = sorted(type(one).__name__ for one in found)
    assert kinds == ["CancelledError", "CancelledError", "OSError", "int"]
    cancel()
    assert loop.run(work(2)) == 2
    loop.close()
