"""`Gateway`: the HTTP server in a thread of its own, with the sessions that it serves."""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvicorn

from verigym.agents.engines.policy import EnginePolicy
from verigym.agents.engines.sampler import Sampler, SamplingParams
from verigym.agents.gateway.app import App, Manage, NotFound
from verigym.agents.gateway.batches import Batches
from verigym.agents.gateway.served import ServedEnv
from verigym.agents.gateway.session import GatewaySession, new_id
from verigym.agents.plan import Settings
from verigym.agents.policies.chat_tokens import ChatTokens
from verigym.agents.policy import Policy
from verigym.errors import ConfigError, RequestError, SandboxError

T = TypeVar("T")

_START_S = 30.0
_SETTLE_S = 0.01
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_LARGEST_BACKLOG = 1024
_MAX_SESSIONS = 10_000


class Gateway:
    """Serves chat APIs on `sampler`. Close it, or use `with`.

    `params` hold for every call: temperature and top_p are the gateway's, `max_tokens` is the most that a
    call may ask for. Clients need `key`, or that of their session. If `opens` is given, a session comes
    into being with its first call, and `manage` answers requests to open and end sessions.
    """

    def __init__(
        self,
        tokens: ChatTokens,
        sampler: Sampler,
        params: SamplingParams,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        key: str | None = None,
        max_batch: int = 64,
        concurrency: int = 1,
        settings: Settings | None = None,
        ready: Any = lambda: None,
        manage: Manage | None = None,
        opens: bool = False,
    ) -> None:
        if host not in _LOOPBACK and key is None:
            raise ConfigError(
                f"a gateway on {host} can be reached by others, so it needs a key: set "
                "VERIGYM_GATEWAY_KEY"
            )
        self.settings = settings or Settings()
        self.tokens = tokens
        self.model = tokens.name
        self.sessions: dict[str, GatewaySession] = {}
        self._max_context = sampler.max_context
        self._opens = opens
        self._lock = threading.Lock()
        self.batches = Batches(
            sampler,
            params,
            max_batch=max_batch,
            concurrency=concurrency,
            deadline_s=self.settings.generate_deadline_s,
            patience_s=self.settings.patience_s,
            ready=ready,
        )
        app = App(
            self._find,
            model=self.model,
            key=key,
            step_deadline_s=self.settings.step_deadline_s,
            manage=manage,
        )
        self._listener = _listen(host, port)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._listener.getsockname()[1]}"
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                lifespan="off",
                ws="none",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=1,
            )
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._serve, name="verigym-gateway", daemon=True)
        self._thread.start()
        self._wait_for_start()

    def open(
        self,
        id: str | None = None,
        *,
        key: tuple[int, ...] = (),
        token: str | None = None,
        served: ServedEnv | None = None,
        max_calls: int = 1000,
    ) -> GatewaySession:
        """Open a session; any thread may. Raises RequestError if there is one of this id."""
        session = GatewaySession(
            id or new_id(),
            self.tokens,
            self.batches,
            max_context=self._max_context,
            key=key,
            token=token,
            served=served,
            max_calls=max_calls,
        )
        with self._lock:
            if len(self.sessions) >= _MAX_SESSIONS:
                raise RequestError(f"{_MAX_SESSIONS} sessions are open; end some first")
            if session.id in self.sessions:
                raise RequestError(f"there is a session {session.id!r} already; choose another id")
            self.sessions[session.id] = session
        return session

    def end(self, session: GatewaySession) -> None:
        """End a session: calls that wait are dropped. Any thread but the gateway's own may."""
        self.run(session.end())
        self.forget(session)

    def forget(self, session: GatewaySession) -> None:
        """Serve an ended session no more."""
        with self._lock:
            self.sessions.pop(session.id, None)

    def settle(self, timeout_s: float) -> bool:
        """Wait for batches whose calls were dropped; return False if one is still under way.

        Only then may the model's weights change.
        """
        until = time.monotonic() + timeout_s
        while not self.batches.is_idle:
            if time.monotonic() > until:
                return False
            time.sleep(_SETTLE_S)
        return True

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the gateway's event loop, and return its result."""
        if self._loop is None or self._loop.is_closed():
            work.close()
            raise SandboxError("the gateway is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """Stop serving. Sessions that are open stay as they are."""
        self.batches.close()
        self._server.should_exit = True
        self._thread.join(_START_S)

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _find(self, id: str) -> GatewaySession:
        session = self.sessions.get(id)
        if session is not None:
            return session
        if not self._opens:
            raise NotFound(f"there is no session {id!r} here")
        return self.open(id, key=(len(self.sessions), time.time_ns()))

    def _serve(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            await self._server.serve(sockets=[self._listener])

        with asyncio.Runner(loop_factory=self._server.config.get_loop_factory()) as runner:
            runner.run(serve())

    def _wait_for_start(self) -> None:
        until = time.monotonic() + _START_S
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                raise SandboxError("the gateway could not start; its log says why")
            time.sleep(_SETTLE_S)


def gateway_for(policy: Policy, **options: Any) -> Gateway:
    """Return a gateway to `policy`, a model of transformers or one on an engine; `options` are `Gateway`'s.

    Raises RequestError for policies without token ids.
    """
    if isinstance(policy, EnginePolicy):
        return Gateway(
            policy,
            policy.sampler,
            policy.params,
            max_batch=1,
            concurrency=policy.concurrency,
            ready=policy.ready,
            **options,
        )
    from verigym.agents.engines.torch import TorchSampler
    from verigym.agents.policies.hf import HFPolicy

    if not isinstance(policy, HFPolicy):
        raise RequestError(
            f"the gateway needs a policy with token ids, such as hf:FOLDER, got {policy.name}"
        )
    params = SamplingParams(
        max_tokens=policy.max_new_tokens,
        temperature=policy.temperature,
        top_p=policy.top_p,
        end_ids=policy.end_ids,
    )
    return Gateway(policy, TorchSampler(policy), params, max_batch=policy.max_batch, **options)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_LARGEST_BACKLOG)
    except OSError as error:
        listener.close()
        name = errno.errorcode.get(error.errno or 0, "")
        raise ConfigError(
            f"the gateway cannot listen on {host}, port {port}: {error.strerror} {name}; choose "
            "another with --port"
        ) from error
    return listener
