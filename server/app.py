"""The verifier service as an ASGI application.

    app = create_app(ServerSettings(verifiers=("math",)))

Judging happens in the worker processes of `verigym.verifiers.pool`, never on the event loop. A
verifier's own failure is a verdict with a status, HTTP 200; only requests that cannot be understood
or admitted get another answer.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi import FastAPI, Request, Response

from verigym import __version__
from verigym.canonical import to_json
from verigym.errors import ConfigError, MissingError, RequestError, suggestion
from verigym.missing import REASON
from verigym.sandbox.local import LocalSandbox
from verigym.server import direct, groups, judges, metrics, openapi, page, refusals, sandbox
from verigym.server.body import BatchBody, VerifyBody, read
from verigym.server.crowd import Crowd
from verigym.server.envs import routes as envs
from verigym.server.guard import Guard, keys_of
from verigym.server.jobs import routes as jobs_routes
from verigym.server.jobs.opening import default_path, opener
from verigym.server.jobs.runner import Jobs
from verigym.server.jobs.sql import Store
from verigym.server.jobs.store import StoreError
from verigym.server.keys import Caller
from verigym.server.limits import RequestGate, RequestLimits, busy, deadline_of, stopping
from verigym.server.openenv import routes as openenv
from verigym.server.ors import routes as ors
from verigym.server.presence import while_there
from verigym.server.programs import ProgramService, most_at_once
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.server.shares import fits
from verigym.server.stream import streamed, wants_lines
from verigym.server.tracing import tracing_of
from verigym.server.watch import Watch
from verigym.verdict import Verdict
from verigym.verifiers.audit.card import read_card
from verigym.verifiers.cache import VerdictCache
from verigym.verifiers.compose import ids_in
from verigym.verifiers.pool import PoolBusy, PoolClosed, RequestTimings, VerifierPool

if TYPE_CHECKING:
    from verigym.server.spans import Tracing

_log = logging.getLogger(__name__)

_verify_decoder = msgspec.json.Decoder(VerifyBody)
_batch_decoder = msgspec.json.Decoder(BatchBody)
_group_decoder = msgspec.json.Decoder(groups.GroupBody)

_OPEN_REASONS = frozenset(
    {REASON, "deadline", "load_timeout", "worker_died", "pool_closed", "cancelled"}
)
"""Reasons with evidence that this package wrote; it reveals nothing of a verifier or a task."""


@dataclass
class _Service:
    """State that the routes share while the application runs."""

    settings: ServerSettings
    pool: VerifierPool
    n_callers: Callable[[], int]
    """Number of key names; 0 if the service requires no key."""
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Result of `Verifier.describe` by verifier id."""
    missing: dict[str, str] = field(default_factory=dict)
    """Missing requirements of partly installed verifiers, and how to install them, by id."""
    audits: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Card with the error rates, by verifier id, if one ships for this version."""
    held: Counter[str] = field(default_factory=Counter)
    """Number of admitted requests without an answer, by caller."""
    size: float = 1.0
    """Mean number of submissions per request."""

    def check(self, ask: VerifyBody, where: str) -> None:
        if ask.verifier not in self.cards and ask.verifier not in self.missing:
            message = f"unknown verifier; {suggestion(ask.verifier, self.cards)}"
            raise Refusal(404, "unknown_verifier", message, f"{where}.verifier")
        for name in sorted(ids_in(ask.params)):
            # A composition must not reach what the operator does not serve.
            if name not in self.cards and name not in self.missing:
                message = f"unknown verifier in params; {suggestion(name, self.cards)}"
                raise Refusal(404, "unknown_verifier", message, f"{where}.params.of")
        if ask.params:
            judges.check(ask.params, self.settings, f"{where}.params")
        limit = self.settings.max_timeout_s
        if ask.timeout_s is not None and not 0 < ask.timeout_s <= limit:
            message = f"timeout_s must be above 0 and at most {limit:g}"
            raise Refusal(422, "invalid_request", message, f"{where}.timeout_s")

    def admit(self, caller: Caller, deadline: float) -> None:
        """Raise Refusal if the queue is full, or the wait would exceed `deadline`.

        Call it before reading a body: a refusal then costs almost nothing, while a request that expires
        in the queue takes a place from others.
        """
        self.pool.look()
        # Those just admitted are not in the queue yet: as many as come at once would pass.
        lane = caller.name
        late = time.monotonic() + self.pool.delay_of(lane) > deadline
        workers, size = self.pool.workers, self.size
        own = max(self.pool.waiting_of(lane), int((self.held[lane] - workers) * size))
        every = max(self.pool.waiting, int((self.held.total() - workers) * size))
        if late or not fits(own, every, self.pool.max_queue, 1, self.n_callers()):
            raise self.full(lane)

    @contextmanager
    def holding(self, request: Request) -> Iterator[str]:
        """Count the request as admitted within the block; yield its lane in the pool."""
        lane: str = request.state.caller.name
        self.held[lane] += 1
        try:
            yield lane
        finally:
            self.held[lane] -= 1

    def full(self, lane: str) -> Refusal:
        """Return the refusal for a full queue, with the time to retry."""
        message = (
            "the queue, or this key's share of it, is full or longer than your deadline; try later"
        )
        return busy("busy", message, self.pool.delay_of(lane))

    def alike(self, asks: Sequence[VerifyBody], where: str) -> list[list[int]]:
        """Group the places of requests that differ in task and submission only. Raises Refusal."""
        groups: dict[tuple[str, bytes, float | None], list[int]] = {}
        self.size += 0.1 * (max(1, len(asks)) - self.size)
        for i, ask in enumerate(asks):
            key = ask.verifier, to_json(ask.params) if ask.params else b"", ask.timeout_s
            group = groups.get(key)
            if group is None:
                self.check(ask, where.format(i))
                group = groups[key] = []
            group.append(i)
        return list(groups.values())

    async def stream(self, request: Request, asks: Sequence[VerifyBody], lane: str) -> Response:
        """Send each verdict as soon as it is available. Raises Refusal."""
        groups = [
            (group, [asks[i] for i in group], asks[group[0]].timeout_s or self.settings.timeout_s)
            for group in self.alike(asks, "$.items[{}]")
        ]
        try:
            deadline = deadline_of(request)
            return await streamed(request, self.pool, groups, _presentable, deadline, lane)
        except PoolBusy as error:
            raise self.full(lane) from error
        except PoolClosed as error:
            raise stopping() from error

    async def judge(
        self, asks: Sequence[VerifyBody], where: str, lane: str, deadline: float = math.inf
    ) -> list[Verdict]:
        """Return the verdicts on `asks` in order; `where` is a pattern for the path of the i-th.

        A submission without a verdict at `deadline` (`time.monotonic`) gets a fault. Raises Refusal, and
        then cancels the submissions that were not judged yet.
        """
        groups = self.alike(asks, where)
        if len(groups) == 1:
            return list(map(_presentable, await self._judge_alike(asks, where, 0, lane, deadline)))
        try:
            async with asyncio.TaskGroup() as tasks:
                judged = [
                    tasks.create_task(
                        self._judge_alike([asks[i] for i in group], where, group[0], lane, deadline)
                    )
                    for group in groups
                ]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None  # the first to fail had the others cancelled
        by_place = {
            i: verdict
            for group, task in zip(groups, judged, strict=True)
            for i, verdict in zip(group, task.result(), strict=True)
        }
        return [_presentable(by_place[i]) for i in range(len(asks))]

    async def judge_group(self, ask: groups.GroupBody, lane: str, deadline: float) -> list[Verdict]:
        """Return the verdicts on the members of a group in order. Raises Refusal."""
        self.check(ask.question(), "$.of")
        try:
            verdicts = await groups.judge_group(
                await groups.make_group(ask, self.pool),
                ask,
                self.pool,
                timeout_s=ask.timeout_s or self.settings.timeout_s,
                deadline=min(deadline, time.monotonic() + self.settings.max_timeout_s),
                lane=lane,
            )
        except PoolBusy as error:
            raise self.full(lane) from error
        except PoolClosed as error:
            raise stopping() from error
        return list(map(_presentable, verdicts))

    async def _judge_alike(
        self, asks: Sequence[VerifyBody], where: str, first: int, lane: str, deadline: float
    ) -> list[Verdict]:
        """Return the verdicts on `asks`, which differ in task and submission only."""
        try:
            return await self.pool.verify_batch_async(
                asks[0].verifier,
                [(ask.to_task(), ask.submission) for ask in asks],
                params=asks[0].params,
                timeout_s=asks[0].timeout_s or self.settings.timeout_s,
                wait_s=0.0,
                deadline=deadline,
                lane=lane,
            )
        except PoolBusy as error:
            raise self.full(lane) from error
        except PoolClosed as error:
            raise stopping() from error
        except RequestError as error:
            place = f"{where.format(first)}.params"
            raise Refusal(422, "bad_params", str(error), place) from error


def create_app(settings: ServerSettings, *, tracing: Tracing | None = None) -> FastAPI:
    """Create the application; its worker processes start and stop with its lifespan.

    `tracing` overrides settings and environment variables. Raises ConfigError if
    `settings.verifiers` or `settings.envs` choose nothing.
    """
    ids = settings.verifier_ids()
    settings.env_ids()
    tracing = tracing or tracing_of(settings.trace)
    open_store = opener(
        settings.store
    )  # here, so that what is wrong with it is said before anything starts
    numbers = metrics.Metrics()
    keys = keys_of(settings)

    def n_callers() -> int:
        return sum(len(one.names()) for one in keys)

    gate = RequestGate(settings, n_callers)

    def watch(timings: RequestTimings) -> None:
        numbers.add_verdicts(timings)
        if tracing is not None:
            tracing.add_verdicts(timings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if tracing is not None:
                stack.push_async_callback(asyncio.to_thread, tracing.close)
            loop = asyncio.get_running_loop()
            service = await asyncio.to_thread(_start, settings, ids, watch, loop, n_callers)
            numbers.read_from(lambda: metrics.of_pool(service.pool))
            app.state.service = service
            for path in ("/v1/verify", "/v1/verify/batch", "/v1/verify/group"):
                gate.before[path] = service.admit
            stack.push_async_callback(asyncio.to_thread, service.pool.close)
            jobs = app.state.jobs = await _start_jobs(settings, service, open_store)
            numbers.read_from(lambda: metrics.of_jobs(jobs))
            stack.push_async_callback(app.state.jobs.close)
            if settings.sandbox:
                programs = app.state.programs = await _start_sandbox(settings, n_callers)
                numbers.read_from(lambda: metrics.of_programs(programs))
                stack.push_async_callback(app.state.programs.close)
            if settings.envs:
                await stack.enter_async_context(envs.sessions(app, settings, n_callers))
                numbers.read_from(lambda: metrics.of_sessions(app.state.sessions))
            yield

    app = FastAPI(
        title="Verigym verifiers",
        version=__version__,
        description="Judges submissions of language-model agents. A fault is a status, not a score.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        generate_unique_id_function=openapi.operation_id,
        responses=openapi.EVERYWHERE,
    )
    app.state.gate = gate
    app.state.crowd = crowd = Crowd(keyed=bool(keys), n_callers=n_callers)
    app.add_middleware(RequestLimits, gate=gate)
    app.add_middleware(Guard, keys=keys, crowd=crowd)  # outside the limits, which ask who calls
    app.add_middleware(Watch, metrics=numbers, tracing=tracing)  # outermost: refusals, too
    refusals.install(app)

    # First, so that no other route is tried before.
    @direct.post(app, "/v1/verify", summary="Judge one submission", openapi_extra=openapi.VERIFY)
    async def verify(request: Request) -> Response:
        service = _service(app)
        with service.holding(request) as lane:
            ask = await read(request, _verify_decoder, settings)
            judging = service.judge([ask], "$", lane, deadline_of(request))
            (verdict,) = await while_there(request, judging)
        return _json(verdict)

    @app.post(
        "/v1/verify/batch",
        summary="Judge several submissions; verdicts come in the same order",
        openapi_extra=openapi.BATCH,
    )
    async def verify_batch(request: Request) -> Response:
        service = _service(app)
        with service.holding(request) as lane:
            batch = await read(request, _batch_decoder, settings)
            if len(batch.items) > settings.max_batch:
                most = settings.max_batch
                message = f"a batch holds at most {most} items, got {len(batch.items)}"
                raise Refusal(413, "batch_too_large", message, "$.items")
            if wants_lines(request):
                return await service.stream(request, batch.items, lane)
            judging = service.judge(batch.items, "$.items[{}]", lane, deadline_of(request))
            verdicts = await while_there(request, judging)
        return _json({"verdicts": verdicts})

    @app.post(
        "/v1/verify/group",
        summary="Judge the members of a group together",
        openapi_extra=openapi.GROUP,
    )
    async def verify_group(request: Request) -> Response:
        service = _service(app)
        with service.holding(request) as lane:
            ask = await read(request, _group_decoder, settings)
            judging = service.judge_group(ask, lane, deadline_of(request))
            verdicts = await while_there(request, judging)
        return _json({"verdicts": verdicts})

    @app.get(
        "/v1/verifiers/groups",
        summary="The group verifiers with their versions and parameters",
        openapi_extra=openapi.GROUPS,
    )
    async def group_verifiers() -> Response:
        return _json({"verifiers": groups.list_cards()})

    metrics.install(app, numbers)
    page.install(app)
    openapi.install(app)
    jobs_routes.install(app, settings, lambda ask, where: _service(app).check(ask, where))
    if settings.sandbox:
        sandbox.install(app, settings)
    if settings.envs:
        envs.install(app, settings)
        openenv.install(app, settings)
        if settings.ors:
            ors.install(app, settings)

    @app.get("/healthz", summary="Whether the service is up", openapi_extra=openapi.HEALTH)
    async def health() -> Response:
        pool = _service(app).pool
        return _json(
            {
                "status": "ok",
                "version": __version__,
                "workers": pool.workers,
                "waiting": pool.waiting,
            }
        )

    @app.get("/readyz", summary="Whether it can take more", openapi_extra=openapi.READY)
    async def ready() -> Response:
        service = _service(app)
        if service.pool.waiting >= service.pool.max_queue:
            raise service.full("")
        return _json({"status": "ready"})  # a service that ends refuses further out

    @app.get(
        "/v1/verifiers",
        summary="The verifiers with their versions and parameters",
        openapi_extra=openapi.VERIFIERS,
    )
    async def verifiers() -> Response:
        return _json({"verifiers": list(_service(app).cards.values())})

    @app.get(
        "/v1/verifiers/{verifier:path}/card",
        summary="A verifier's card: how often it was wrong, and on what",
        openapi_extra=openapi.CARD,
    )
    async def card(verifier: str) -> Response:
        service = _service(app)
        if verifier not in service.cards:
            message = f"unknown verifier; {suggestion(verifier, service.cards)}"
            raise Refusal(404, "unknown_verifier", message)
        if verifier not in service.audits:
            raise Refusal(404, "no_card", "this version of the verifier was not audited")
        return _json(service.audits[verifier])

    return app


def _start(
    settings: ServerSettings,
    ids: Sequence[str],
    watch: Callable[[RequestTimings], None],
    loop: asyncio.AbstractEventLoop,
    n_callers: Callable[[], int],
) -> _Service:
    cache = None
    if settings.cache_mib or settings.cache_file:
        cache = VerdictCache(settings.cache_mib or 16.0, settings.cache_file)
    pool = VerifierPool(
        settings.workers,
        timeout_s=settings.timeout_s,
        max_queue=settings.max_queue,
        preload=ids,
        cache=cache,
        watch=watch,
        loop=loop,
        sql_engines=settings.sql_engines,
        keep_env=settings.worker_env,
        has_room=lambda own, waiting, limit, n: fits(own, waiting, limit, n, n_callers()),
    )
    service = _Service(settings, pool, n_callers)
    for name in ids:
        try:
            service.cards[name] = pool.describe(name)
            audit = read_card(name, service.cards[name]["version"])
            if audit is not None:
                service.audits[name] = audit
        except MissingError as error:
            _log.warning("verifier %s gives no verdicts: %s", name, error)
            service.missing[name] = str(error)
        except RequestError as error:
            # One broken plugin must not keep the others from being served.
            _log.error("verifier %s is left out: %s", name, error)
    return service


async def _start_jobs(
    settings: ServerSettings, service: _Service, open_store: Callable[[], Store]
) -> Jobs:
    """Start jobs at once if a store is named or has been used, else with the first request."""
    jobs = Jobs(
        *(settings, open_store, service.pool, service.cards, _presentable),
        service.n_callers,
    )
    if settings.store is None and not default_path().exists():
        return jobs
    try:
        await jobs.begin()
    except StoreError as error:
        if settings.store is not None:
            await jobs.close()
            raise ConfigError(str(error)) from error
        _log.error("%s", error)
    return jobs


async def _start_sandbox(settings: ServerSettings, n_callers: Callable[[], int]) -> ProgramService:
    most = most_at_once(settings)
    sandbox = await asyncio.to_thread(lambda: LocalSandbox(max_jobs=most))
    return ProgramService(settings, sandbox, n_callers)


def _service(app: FastAPI) -> _Service:
    service: _Service = app.state.service
    return service


def _json(value: Any) -> Response:
    return Response(to_json(value), media_type="application/json")


def _presentable(verdict: Verdict) -> Verdict:
    """Return `verdict` as a caller may see it.

    The evidence of a fault may quote an exception with paths or the hidden reference, so it goes to the
    log instead. The evidence of scored verdicts is written for callers and stays.
    """
    if not verdict.fault or verdict.reason in _OPEN_REASONS:
        return verdict
    _log.warning(
        "%s: %s, %s: %s (digest %s)",
        *(verdict.verifier, verdict.status.value, verdict.reason),
        *(verdict.evidence, verdict.digest),
    )
    return replace(verdict, evidence="details are in the service's log, under this digest")
