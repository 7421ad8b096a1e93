"""Runs the service on uvicorn until it is told to stop."""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn

from verigym.errors import ConfigError, SandboxError
from verigym.server.app import create_app
from verigym.server.settings import Settings

_BACKLOG = 1024
_MAX_CONNECTIONS = 4096
_WATCH_S = 1.0


def run(
    settings: Settings, on_ready: Callable[[str], None], *, until_stdin_closes: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT, finish the requests under way, and return.

    `on_ready` gets the URL as soon as requests are answered. With `until_stdin_closes` the service
    also stops when its standard input ends or its parent dies, so that it cannot outlive whoever
    started it. Raises ConfigError where the address cannot be bound. Main thread only.
    """
    app = create_app(settings)
    with _listen(settings.host, settings.port) as listener:
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=75,  # above the client's, so that it is the client who hangs up
            timeout_graceful_shutdown=max(1, round(settings.drain_s)),
            limit_concurrency=_MAX_CONNECTIONS,
        )
        server = _Server(config, lambda: on_ready(_url(settings.host, listener)))

        def stop(number: int, frame: FrameType | None) -> None:
            server.should_exit = True

        # uvicorn raises the signal again once it has shut down; these handlers then receive it, and
        # the process ends normally, with exit code 0.
        before = {n: signal.signal(n, stop) for n in (signal.SIGTERM, signal.SIGINT)}
        try:
            if until_stdin_closes:
                threading.Thread(
                    target=_stop_with_parent, args=(server, settings.drain_s), daemon=True
                ).start()
            server.run(sockets=[listener])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if not server.started:
            raise SandboxError("the service could not start; its log says why")


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._on_ready()


def _listen(host: str, port: int) -> socket.socket:
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


def _url(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    name = host.strip("[]")
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _stop_with_parent(server: uvicorn.Server, drain_s: float) -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], _WATCH_S)
        if ready and not os.read(0, 4096):
            break
    server.should_exit = True
    # Nobody is left to kill a service that hangs while it stops.
    threading.Event().wait(drain_s + 5.0)
    os._exit(1)
