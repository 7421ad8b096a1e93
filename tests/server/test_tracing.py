"""Traces, with the exporter of OpenTelemetry that keeps them, and over HTTP to a collector."""

import asyncio
import contextlib
import http.server
import json
import logging
import queue
import sys
import threading

import httpx2
import pytest

from verigym import ConfigError, Task
from verigym.server.app import create_app
from verigym.server.process import ServerProcess
from verigym.server.settings import ServerSettings
from verigym.server.tracing import tracing_of

pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from verigym.server.spans import Tracing

TASK = json.loads(
    Task(id="t", env_id="e", seed=1, prompt="PROMPT", difficulty="d", reference="HUSH").to_json()
)
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def ask(do):
    return {"verifier": "unruly/obeys", "task": TASK, "submission": {"do": do}}


@contextlib.asynccontextmanager
async def running(tracing):
    app = create_app(ServerSettings(workers=2, verifiers=("unruly/obeys",)), tracing=tracing)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        yield http


def test_a_request_has_spans_of_queue_and_verify_in_the_callers_trace(unruly):
    exporter = InMemorySpanExporter()

    async def main():
        async with running(Tracing(exporter)) as http:
            await asyncio.gather(
                http.post(
                    "/v1/verify/batch?QUERY=1",
                    json={"items": [ask("nothing"), ask("raise")]},
                    headers={"traceparent": PARENT, "X-Request-ID": "mine"},
                ),
                http.get("/nope"),
            )

    asyncio.run(main())
    spans = exporter.get_finished_spans()
    root = next(span for span in spans if span.name == "POST /v1/verify/batch")
    assert f"{root.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{root.parent.span_id:016x}" == PARENT.split("-")[2]
    assert root.attributes["http.response.status_code"] == 200
    assert root.attributes["verigym.request_id"] == "mine"
    assert root.attributes["verigym.caller"] == "local"
    assert root.resource.attributes["service.name"] == "verigym"
    children = [s for s in spans if s.parent and s.parent.span_id == root.context.span_id]
    assert sorted(span.name for span in children) == ["queue", "queue", "verify", "verify"]
    for span in children:
        assert span.context.trace_id == root.context.trace_id
        assert span.attributes["verigym.verifier"] == "unruly/obeys"
        # Two clocks: the pool's, moved to the time of day, and OpenTelemetry's.
        assert root.start_time - 1_000_000 <= span.start_time <= span.end_time
        assert span.end_time <= root.end_time + 1_000_000
    statuses = {name for s in children for name in s.attributes if ".status." in name}
    assert statuses == {"verigym.status.ok", "verigym.status.verifier_error"}
    other = next(span for span in spans if span.name == "GET (none)")
    assert other.context.trace_id != root.context.trace_id
    told = "".join(span.to_json() for span in spans)
    assert not any(hidden in told for hidden in ("PROMPT", "HUSH", "QUERY", "nope"))


def test_a_broken_traceparent_begins_a_trace_of_its_own(unruly):
    exporter = InMemorySpanExporter()

    async def main():
        async with running(Tracing(exporter)) as http:
            for odd in ("", "x", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", PARENT + "\t" * 9):
                answer = await http.get("/healthz", headers={"traceparent": odd})
                assert answer.status_code == 200

    asyncio.run(main())
    assert len(exporter.get_finished_spans()) == 4


@pytest.fixture
def collector():
    """A stand-in for a collector of OTLP over HTTP: what arrives, and where."""
    arrived = queue.SimpleQueue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            data = self.rfile.read(int(self.headers["Content-Length"]))
            arrived.put((self.path, ExportTraceServiceRequest.FromString(data)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", arrived
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_a_real_service_sends_its_traces_to_a_collector(collector):
    url, arrived = collector
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_SERVICE_NAME": "judge-7"}
    with ServerProcess(verifiers=["games"], workers=1, env=env) as server:
        with httpx2.Client(base_url=server.url) as client:
            client.get("/v1/verifiers", headers={"traceparent": PARENT})
        assert server.stop() == 0  # which sends what is left
    names = set()
    while not arrived.empty():
        path, sent = arrived.get()
        assert path == "/v1/traces"
        for part in sent.resource_spans:
            about = {a.key: a.value.string_value for a in part.resource.attributes}
            assert about["service.name"] == "judge-7"
            names |= {span.name for scope in part.scope_spans for span in scope.spans}
    assert "GET /v1/verifiers" in names


@pytest.mark.slow
def test_a_service_whose_collector_is_away_answers_and_stops():
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    with ServerProcess(verifiers=["games"], workers=1, env=env) as server:
        with httpx2.Client(base_url=server.url) as client:
            assert client.get("/v1/verifiers").status_code == 200
        assert server.stop() == 0


def test_traces_are_off_unless_asked_for(monkeypatch, caplog):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert tracing_of(False) is None
    tracing = tracing_of(True)
    assert tracing is not None
    tracing.close()


def test_a_missing_extra_is_said(monkeypatch, caplog):
    monkeypatch.delitem(sys.modules, "verigym.server.spans", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)  # as if it were not installed
    with pytest.raises(ConfigError, match=r"verigym\[otel\]"):
        tracing_of(True)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with caplog.at_level(logging.WARNING):
        assert tracing_of(False) is None
    assert "no traces are sent" in caplog.text
