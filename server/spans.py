"""Traces by OpenTelemetry, off unless asked for: a span a request, and in it queue and verify.

The environment says where they go (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`,
`OTEL_TRACES_SAMPLER` and so on, as OpenTelemetry's manual has them). A caller's `traceparent` is
continued. Spans hold no body, key, query or path with ids in it.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import Scope

from verigym import __version__
from verigym.server.exchange import Exchange
from verigym.verifiers.pool import RequestTimings


@dataclass(frozen=True)
class _Begun:
    span: Span
    token: object


class Tracing:
    """Makes the spans and sends them away in a thread of its own; `exporter` is OTLP over HTTP."""

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        name = os.environ.get("OTEL_SERVICE_NAME", "verigym")
        resource = Resource.create({"service.name": name, "service.version": __version__})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("verigym.server", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, scope: Scope, exchange: Exchange) -> _Begun:
        """Return the span of a request, which becomes the current one."""
        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in (b"traceparent", b"tracestate")
        }
        parent = self._propagator.extract(carrier)
        span = self._tracer.start_span(exchange.method, parent, SpanKind.SERVER)
        return _Begun(span, contexts.attach(trace.set_span_in_context(span, parent)))

    def end(self, begun: _Begun, exchange: Exchange) -> None:
        """End the span of the request, which was answered."""
        span = begun.span
        contexts.detach(begun.token)  # type: ignore[arg-type]
        span.update_name(f"{exchange.method} {exchange.route}")
        span.set_attributes(
            {
                "http.request.method": exchange.method,
                "http.route": exchange.route,
                "http.response.status_code": exchange.status,
                "http.request.body.size": exchange.received,
                "http.response.body.size": exchange.sent,
                "verigym.caller": exchange.caller,
                "verigym.request_id": exchange.id,
            }
        )
        if exchange.status >= 500:
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def add_verdicts(self, timings: RequestTimings) -> None:
        """Add the spans of what a pool did in the context of a request (`VerifierPool.watch`)."""
        # The pool's clock does not go back; spans have the time of day.
        offset = time.time() - time.monotonic()
        queued, taken, ended = (
            round((at + offset) * 1e9) for at in (timings.queued, timings.taken, timings.ended)
        )
        attributes: dict[str, str | int] = {
            "verigym.verifier": timings.verifier,
            "verigym.submissions": len(timings.verdicts),
        }
        if timings.taken:
            waited = self._tracer.start_span("queue", attributes=attributes, start_time=queued)
            waited.end(taken)
        judged = self._tracer.start_span(
            "verify", attributes=attributes, start_time=taken if timings.taken else queued
        )
        statuses = Counter(verdict.status.value for verdict in timings.verdicts)
        judged.set_attributes({f"verigym.status.{name}": n for name, n in statuses.items()})
        if any(verdict.fault for verdict in timings.verdicts):
            judged.set_status(Status(StatusCode.ERROR))
        judged.end(ended)

    def close(self) -> None:
        """Send the spans that are left."""
        self._provider.shutdown()
