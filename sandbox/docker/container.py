"""One container with the keeper waiting in it, and the connection to that keeper."""

from __future__ import annotations

import contextlib
import select
import ssl
import time
from collections.abc import Iterable, Iterator
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.docker.engine import Shape, container_config, errors, remove
from verigym.sandbox.docker.frames import FrameError, Frames, read_json

START_S = 60.0
"""Maximum seconds until a container's keeper is ready."""

_SETTLE_S = 2.0
_READ = 1 << 16
_WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Container:
    """A started container, its keeper ready. One thread at a time, but for `signal`."""

    def __init__(self, api: Any, identity: str, shape: Shape, stream: Any) -> None:
        self.id = identity
        self.shape = shape
        self.machine = ""
        """Machine name of the container's kernel: x86_64, aarch64."""
        self.frames = Frames()
        self._api = api
        self._stream = stream  # holds the response, without which the SDK closes the socket
        self._socket = getattr(stream, "_sock", stream)
        self._socket.setblocking(False)
        self._chunks: Iterator[bytes] = iter(())
        self._chunk = memoryview(b"")
        self.idle = True
        """True until the container gets its job."""
        self.open = True
        """False once the container's end of the connection is closed."""

    def queue(self, chunks: Iterable[bytes]) -> None:
        """Send `chunks` during the next turns, instead of any unsent data."""
        self._chunks = iter(chunks)
        self._chunk = memoryview(next(self._chunks, b""))

    @property
    def sending(self) -> bool:
        """True if there is unsent data."""
        return bool(self._chunk)

    def turn(
        self, timeout_s: float, wake: int | None = None, *, reading: bool = True
    ) -> list[tuple[bytes, bytes]]:
        """Send and, if `reading`, receive what can be, waiting up to `timeout_s` for the first of it
        or for `wake` to be readable; the frames that came. Raises FrameError for nonsense."""
        poll = select.poll()
        if self.open:
            wanted = (select.POLLIN if reading else 0) | (select.POLLOUT if self.sending else 0)
            poll.register(self._socket, wanted)
        if wake is not None:
            poll.register(wake, select.POLLIN)
        ready = dict(poll.poll(max(0, round(timeout_s * 1000 + 0.5))))
        happened = ready.get(self._socket.fileno(), 0) if self.open else 0
        if happened & select.POLLOUT:
            self._send()
        if reading and happened & ~select.POLLOUT:
            return self._receive()
        return []

    def signal(self, name: str) -> None:
        """Send a signal to the keeper, from any thread."""
        self._api.kill(self.id, signal=name)

    def ran_out_of_memory(self) -> bool:
        """Return True if the engine killed a process for lack of memory; call it after the keeper's report,
        when the container ends."""
        deadline = time.monotonic() + _SETTLE_S
        while True:
            state = self._state()
            if state.get("OOMKilled"):
                return True
            # Until it rests, word of it may still be on its way.
            if not state.get("Running") or time.monotonic() > deadline:
                return False
            time.sleep(0.02)

    def last_words(self) -> str:
        """Return why the container ended, as far as can be told."""
        state = self._state()
        said = self.frames.complaints.decode("utf-8", "replace").strip()
        return (
            f"the container ended with exit code {state.get('ExitCode')} "
            f"{state.get('Error') or ''} {said}".strip()
        )

    def disconnect(self) -> None:
        """Close the connection; the keeper then ends, and the container with it."""
        self.open = False
        self._socket.close()
        self._stream.close()

    def _state(self) -> dict[str, Any]:
        state = self._api.inspect_container(self.id).get("State") or {}
        return dict(state)

    def _send(self) -> None:
        try:
            while self._chunk:
                self._chunk = self._chunk[self._socket.send(self._chunk) :]
                if not self._chunk:
                    self._chunk = memoryview(next(self._chunks, b""))
        except _WOULD_BLOCK:
            return
        except OSError:
            # It does not read any more. What it wrote before is still to be read.
            self.queue(())

    def _receive(self) -> list[tuple[bytes, bytes]]:
        frames: list[tuple[bytes, bytes]] = []
        try:
            while len(frames) < 64:
                data = self._socket.recv(_READ)
                if not data:
                    self.open = False
                    break
                frames += self.frames.feed(data)
        except _WOULD_BLOCK:
            pass
        except OSError:
            self.open = False
        return frames


def start(
    api: Any, image: str, shape: Shape, runtime: str | None, labels: dict[str, str]
) -> Container:
    """Make a container, start it and wait until its keeper is ready.

    Attached before it starts, so that nothing it says can be missed. Raises SandboxError.
    """
    config = container_config(image, shape, runtime, labels)
    try:
        identity = api.create_container_from_config(config)["Id"]
    except errors() as error:
        raise SandboxError(f"the engine made no container of {image}: {error}") from error
    try:
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        stream = api.attach_socket(identity, params=params)
        container = Container(api, identity, shape, stream)
        try:
            api.start(identity)
            _await_keeper(container)
        except BaseException:
            container.disconnect()
            raise
        return container
    except BaseException as error:
        with contextlib.suppress(*errors()):
            remove(api, identity)
        if isinstance(error, (*errors(), FrameError)):
            raise SandboxError(f"a container of {image} did not start: {error}") from error
        raise


def _await_keeper(container: Container) -> None:
    deadline = time.monotonic() + START_S
    while container.open and time.monotonic() < deadline:
        for kind, payload in container.turn(deadline - time.monotonic()):
            if kind == b"H":
                container.machine = str(read_json(payload).get("machine"))
                return
            raise SandboxError(f"the keeper would not start: {payload.decode('utf-8', 'replace')}")
    if container.open:
        raise SandboxError(f"no container of the image was ready within {START_S:g} s")
    raise SandboxError(
        f"{container.last_words()}; the image needs python3 on its PATH, as "
        "deploy/sandbox.Dockerfile has it"
    )
