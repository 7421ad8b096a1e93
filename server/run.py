"""Runs the service on uvicorn until a signal stops it."""

from __future__ import annotations

import errno
import gc
import os
import resource
import select
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from verigym.errors import ConfigError, SandboxError
from verigym.server.app import create_app
from verigym.server.connections import Connection, Sweeper
from verigym.server.crowd import MAX_CONNECTIONS, Crowd
from verigym.server.envs.table import SessionTable
from verigym.server.limits import RequestGate
from verigym.server.settings import ServerSettings
from verigym.server.websockets import WebSocketConnection

_BACKLOG = 1024
_ACCEPTED = 32
"""Connections that one turn of the event loop accepts. libuv accepts one for each listening descriptor,
and where a turn takes long because hundreds of clients ask at once, new ones would wait for seconds."""
_WATCH_S = 1.0
_DEAF_S = 300.0
"""Seconds without an answer to a ping after which a WebSocket is closed; a training client may be busy."""
_CUT_S = 1
"""Seconds that uvicorn waits for connections to close after all answers or the drain time."""


def run(
    settings: ServerSettings, on_ready: Callable[[str], None], *, until_stdin_closes: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT, finish the running requests, and return.

    New requests are refused meanwhile; a second signal ends it at once.
    `on_ready` gets the URL as soon as requests are answered. With `until_stdin_closes` the service
    also stops when its standard input ends or its parent dies, so that it cannot outlive whoever
    started it. Raises ConfigError if the address cannot be bound. Main thread only.
    """
    app = create_app(settings)
    _check_tls(settings)
    _allow_descriptors(2 * MAX_CONNECTIONS + settings.max_sockets)
    with listen(settings.host, settings.port) as listener:
        url = f"{'http' if settings.tls_cert is None else 'https'}://{_authority(settings.host, listener)}"
        server = Server(app, settings, lambda: on_ready(url))

        def stop(number: int, frame: FrameType | None) -> None:
            server.drain()

        # uvicorn raises the signal again once it has shut down; these handlers then receive it, and
        # the process ends normally, with exit code 0.
        before = {n: signal.signal(n, stop) for n in (signal.SIGTERM, signal.SIGINT)}
        try:
            if until_stdin_closes:
                threading.Thread(
                    target=_stop_with_parent, args=(server, settings.drain_s), daemon=True
                ).start()
            server.run(sockets=[listener, *(listener.dup() for _ in range(_ACCEPTED - 1))])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if not server.started:
            raise SandboxError("the service could not start; its log says why")


class Server(uvicorn.Server):
    """uvicorn for one application of ours; `on_ready` is called when it answers."""

    def __init__(
        self, app: FastAPI, settings: ServerSettings, on_ready: Callable[[], None]
    ) -> None:
        crowd_: Crowd = app.state.crowd

        class CrowdedConnection(Connection):
            crowd = crowd_

        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=75,  # above the client's, so that it is the client who hangs up
            timeout_graceful_shutdown=_CUT_S,
            http=CrowdedConnection,
            ws=WebSocketConnection,
            ws_max_size=settings.max_body_bytes,
            ws_per_message_deflate=False,  # costs more than loopback and data centres give back
            ws_ping_timeout=_DEAF_S,
            proxy_headers=False,  # nobody here looks at them
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
        )
        super().__init__(config)
        self._app = app
        self._gate: RequestGate = app.state.gate
        self._drain_s = settings.drain_s
        self._drained_by = 0.0
        self._on_ready = on_ready
        self._sweeper = Sweeper()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # What was loaded stays: looking through it for garbage held up all requests for 40 ms.
        gc.collect()
        gc.freeze()
        if self.started and not self.should_exit:
            self._on_ready()

    def drain(self) -> None:
        """Begin to end; the second time, do so at once. From any thread or signal handler."""
        if self._gate.draining:
            self.should_exit = True
        else:
            self._drained_by = time.monotonic() + self._drain_s
            self._gate.draining = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._captured_signals.append(sig)
        self.drain()

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:
            self._sweeper.sweep(self.server_state.connections)
        if self._gate.draining:
            late = time.monotonic() > self._drained_by
            sessions: SessionTable | None = getattr(self._app.state, "sessions", None)
            if sessions is not None:
                sessions.recall_all()
            n_lent = 0 if sessions is None else sessions.n_lent
            if late or not (self._gate.running or n_lent):
                self.should_exit = True
        return await super().on_tick(counter)


def _check_tls(settings: ServerSettings) -> None:
    if settings.tls_cert is None or settings.tls_key is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key)
    except OSError as error:  # of which SSLError is one
        raise ConfigError(
            f"{settings.tls_cert} and {settings.tls_key} cannot be used for TLS: "
            f"{error.strerror or error}"
        ) from error


def _allow_descriptors(wanted: int) -> None:
    """Raise this process's limit of open files as far as it may, up to `wanted`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as error:
        raise ConfigError(f"host {host!r} has no address: {error}") from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"port {port} on {host} is in use; choose another with --port, or 0 for any"
            ) from error
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return listener


def _authority(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    name = host.strip("[]")
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _stop_with_parent(server: Server, drain_s: float) -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], _WATCH_S)
        if ready and not os.read(0, 4096):
            break
    server.drain()
    # Nobody is left to kill a service that hangs while it stops.
    threading.Event().wait(drain_s + 5.0)
    os._exit(1)
