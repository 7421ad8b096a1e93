"""`/metrics`: metrics of the service in Prometheus format.

Labels come from short closed lists: route templates (never paths), HTTP methods, statuses, ids of served
verifiers. Numbers that other parts count themselves are read on request.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI, Request, Response
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from verigym import __version__
from verigym.verifiers.pool import RequestTimings, VerifierPool

if TYPE_CHECKING:
    from verigym.server.envs.table import SessionTable
    from verigym.server.jobs.runner import Jobs
    from verigym.server.programs import ProgramService

Reading = Callable[[], Iterable[Metric]]
"""Function that returns the current metrics of a part of the service."""

_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Metrics:
    """Metrics of one application, in their own registry. All methods are thread-safe."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "verigym_http_requests",
            "Requests that were answered; a WebSocket counts with 101 when it ends.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._request_s = Histogram(
            "verigym_http_request_seconds",
            "From the request's head to the answer's last byte.",
            ("route",),
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        self.under_way = Gauge(
            "verigym_http_requests_under_way",
            "Requests without an answer yet, open WebSockets among them.",
            registry=self.registry,
        )
        self._verify_s = Histogram(
            "verigym_verification_seconds",
            "What a worker took over a verdict; 0 where the cache knew it or no worker saw it.",
            ("verifier", "status"),
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        self._wait_s = Histogram(
            "verigym_queue_wait_seconds",
            "How long submissions waited for a worker.",
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        info = Gauge("verigym_info", "Always 1.", ("version",), registry=self.registry)
        info.labels(__version__).set(1)
        ProcessCollector(registry=self.registry)
        self._answered: dict[tuple[str, str, int], Counter] = {}
        self._took: dict[str, Histogram] = {}
        self._judged: dict[tuple[str, str], Histogram] = {}
        self._readings: list[Reading] = []
        self.registry.register(_Readings(self._readings))

    def read_from(self, reading: Reading) -> None:
        """Include `reading` in each request for metrics, too; it is called in a thread."""
        self._readings.append(reading)

    def answered(self, method: str, route: str, status: int, seconds: float | None) -> None:
        """Count an answered request; `seconds` is None for a WebSocket, whose duration says nothing."""
        # Looked up here: the library's own way from labels to a number costs more than all the rest.
        key = (method, route, status)
        count = self._answered.get(key)
        if count is None:
            count = self._answered[key] = self._requests.labels(*key)
        count.inc()
        if seconds is not None:
            took = self._took.get(route)
            if took is None:
                took = self._took[route] = self._request_s.labels(route)
            took.observe(seconds)

    def add_verdicts(self, timings: RequestTimings) -> None:
        """Count what a pool has judged (`VerifierPool.watch`)."""
        if timings.taken:
            self._wait_s.observe(timings.taken - timings.queued)
        for verdict, seconds in zip(timings.verdicts, timings.seconds, strict=True):
            key = (timings.verifier, verdict.status.value)
            judged = self._judged.get(key)
            if judged is None:
                judged = self._judged[key] = self._verify_s.labels(*key)
            judged.observe(seconds)


def install(app: FastAPI, metrics: Metrics) -> None:
    """Add `/metrics`; the guard requires the scope admin."""
    app.state.metrics = metrics

    @app.get("/metrics", include_in_schema=False)
    async def numbers(request: Request) -> Response:
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        text = await asyncio.to_thread(encode, metrics.registry)
        return Response(text, headers={"Content-Type": kind})


def of_pool(pool: VerifierPool) -> Iterator[Metric]:
    """Yield metrics of the queue, workers and cache of a pool."""
    yield gauge("verigym_queue_length", "Submissions that no worker has taken yet.", pool.waiting)
    yield gauge("verigym_queue_limit", "Beyond it requests are refused.", pool.max_queue)
    yield gauge("verigym_workers", "Worker processes that there should be.", pool.workers)
    pids = pool.worker_pids()
    yield gauge("verigym_workers_alive", "Worker processes that run.", len(pids))
    help = "Resident memory of the workers together; what they share counts for each."
    yield gauge("verigym_workers_resident_memory_bytes", help, sum(map(_resident, pids)))
    counts = pool.worker_counts()
    yield counter("verigym_workers_started", "Workers that were started.", counts["started"])
    help = "Workers that were killed because a submission had no verdict in time."
    yield counter("verigym_workers_killed", help, counts["killed"])
    yield counter("verigym_workers_died", "Workers that died by themselves.", counts["died"])
    if pool.cache is not None:
        yield counter("verigym_cache_hits", "Verdicts that the cache knew.", pool.cache.hits)
        yield counter("verigym_cache_misses", "Verdicts that it did not.", pool.cache.misses)


def of_programs(programs: ProgramService) -> Iterator[Metric]:
    """Yield metrics of the sandbox's programs and sessions."""
    help = "Programs that ran, by the status of their results."
    yield counters("verigym_sandbox_jobs", help, "status", dict(programs.ended))
    yield gauge("verigym_sandbox_queue_length", "Programs that wait.", programs.waiting)
    yield gauge("verigym_sandbox_sessions_open", "Interpreters.", programs.open_sessions)


def of_sessions(table: SessionTable) -> Iterator[Metric]:
    """Yield metrics of environment sessions."""
    yield gauge("verigym_env_sessions_open", "Sessions of environments.", len(table))
    help = "Sockets on which the process of an environment answers the client itself."
    yield gauge("verigym_env_sockets_lent", help, table.n_lent)
    help = "Steps and resets of environments that ended, by status."
    yield counters("verigym_env_moves", help, "status", dict(table.moves))


def of_jobs(jobs: Jobs) -> Iterator[Metric]:
    """Yield metrics of durable jobs."""
    counts = {status.value: count for status, count in jobs.counts.items()}
    help = "Jobs in the store that are not finished, of all services that share it."
    yield gauges("verigym_jobs", help, "status", counts)


def gauge(name: str, help: str, value: float) -> Metric:
    """Return a gauge: a number that goes up and down."""
    return GaugeMetricFamily(name, help, value=value)


def counter(name: str, help: str, value: float) -> Metric:
    """Return a counter: a number that only grows; `_total` is added to its name."""
    return CounterMetricFamily(name, help, value=value)


def counters(name: str, help: str, label: str, values: dict[str, int]) -> Metric:
    """Return counters by the value of `label`."""
    family = CounterMetricFamily(name, help, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family


def gauges(name: str, help: str, label: str, values: dict[str, int]) -> Metric:
    """Return gauges by the value of `label`."""
    family = GaugeMetricFamily(name, help, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family


class _Readings(Collector):
    def __init__(self, readings: list[Reading]) -> None:
        self._readings = readings

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        for reading in self._readings:
            yield from reading()


def _resident(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError, ValueError):
        return 0
