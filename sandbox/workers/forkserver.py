"""A clean, single-threaded process that forks workers.

The owner's process may have threads, locks and a CUDA context, none of which survives a fork. This
one starts from a fresh interpreter, imports what the workers need once, and forks: a new worker
costs milliseconds and shares its modules' memory with the others.

Life: it ends when the owner's end of the control socket closes or the owner's process dies, and ends
all workers and whatever they left running. The kernel kills a worker whose fork server has died. A
process whose parent was a worker and is gone is killed, so code in a worker that wants a helper
process must keep it as its child.

Secrets: variables that hold keys or passwords are left out (`without_secrets.py`), and what only the
workers are to know (`grants`) comes through a pipe, never on the command line or in the environment.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from types import FrameType
from typing import Any, NoReturn, TypeAlias

from verigym.sandbox.workers import lifeline
from verigym.sandbox.workers.without_secrets import without_secrets
from verigym.signals import restore_signals

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from verigym.sandbox.workers.forkserver import main; "
    "main(int(sys.argv[1]), sys.argv[3], sys.argv[4:])"
)
_WATCH_S = 1.0
"""Seconds between checks that the parent process is alive, in addition to watching the socket."""
_START_S = 60.0
"""Longest wait for a worker, imports of the preloaded verifiers included."""
_STOP_S = 5.0

Work: TypeAlias = Callable[[socket.socket], None]


class ForkServer:
    """Handle of the owner on the process; thread-safe.

    `body` names the module of the workers: `load(preload, grants)` is called once, before they are
    forked, and `work(socket)` in each of them. `grants` is plain data that only the workers
    receive, None for nothing. `keep` names environment variables that they get although they may
    hold a secret.
    """

    def __init__(
        self,
        body: str,
        preload: Sequence[str] = (),
        *,
        grants: Mapping[str, Any] | None = None,
        keep: Collection[str] = (),
    ) -> None:
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(_START_S)
        # One thread each: there are as many workers as the machine should run at once.
        env = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        env |= without_secrets(os.environ, keep)
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-c", _BOOT),
                    *(str(theirs.fileno()), json.dumps(sys.path), body, *preload),
                ],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env=env,
                start_new_session=True,  # Ctrl-C in the terminal is for the owner alone
            )
        assert self._process.stdin is not None
        # A process that died already says so at the first fork.
        with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(json.dumps(grants).encode())

    @property
    def pid(self) -> int:
        return self._process.pid

    def fork(self) -> tuple[int, socket.socket]:
        """Start a worker and return its pid and this process's end of the connection. Raises
        OSError if it cannot be started."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            try:
                with self._lock:
                    socket.send_fds(self._control, [b"fork"], [theirs.fileno()])
                    answer = self._control.recv(32)
                if not answer:
                    raise ConnectionError("the fork server has ended")
                if answer == b"failed":
                    raise OSError("no new process could be forked")
            except OSError:
                ours.close()
                raise
        return int(answer), ours

    def kill(self, pid: int) -> None:
        """Kill the worker `pid` with SIGKILL; nothing if it is dead already.

        Goes through the server because only a parent can tell a pid from a later reuse of it.
        """
        # A server that is gone took its workers with it.
        with self._lock, contextlib.suppress(OSError):
            self._control.send(b"kill %d" % pid)

    def close(self) -> None:
        """End the server and all below it; returns when they are gone."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits in fork()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with self._lock:
            self._control.close()


def main(control_fd: int, body: str, preload: Sequence[str]) -> NoReturn:
    """Run the server process."""
    parent = os.getppid()
    restore_signals()
    # Functions instead of SIG_IGN: programs that a worker starts must not inherit ignored signals.
    # The end of the socket is the only way to stop this process short of SIGKILL.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, _do_nothing)
    os.dup2(2, 1)  # what workers print must not enter the owner's output
    lifeline.adopt_orphans()
    control = socket.socket(fileno=control_fd)
    grants = json.loads(sys.stdin.buffer.read())
    _close_stdin()
    work = _load(body, preload, grants)
    gc.freeze()  # keep the collector from touching, and so copying, the shared pages
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    workers: set[int] = set()
    try:
        while os.getppid() == parent:
            ready, _, _ = select.select([control.fileno(), woken], [], [], _WATCH_S)
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
            if control.fileno() in ready and not _obey(control, workers, work):
                break
            _reap(workers)
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())  # to stderr; the owner sees the end and starts another
    finally:
        _end_all()
        os._exit(0)


def _obey(control: socket.socket, workers: set[int], work: Work) -> bool:
    """Carry out one command; return False when there will be no more."""
    order, fds, _, _ = socket.recv_fds(control, 64, 1)
    if order == b"fork" and fds:
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            os.close(fds[0])
            _say(control, b"failed")
            return True
        if pid == 0:
            _become_worker(server, control, fds[0], work)
        os.close(fds[0])
        workers.add(pid)
        _say(control, b"%d" % pid)
    elif order.startswith(b"kill ") and int(order[5:]) in workers:
        os.kill(int(order[5:]), signal.SIGKILL)
    return bool(order)


def _say(control: socket.socket, answer: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the next order is the end
        control.send(answer)


def _become_worker(server: int, control: socket.socket, fd: int, work: Work) -> NoReturn:
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        lifeline.die_with_parent(server)
        control.close()
        _reseed()
        with socket.socket(fileno=fd) as sock:
            work(sock)
        code = 0
    except OSError:
        code = 0  # the owner closed the connection while we answered
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())  # to stderr; the owner sees the death
    finally:
        os._exit(code)


def _reseed() -> None:
    """Reseed the global generators, because every worker would otherwise draw the same numbers."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def _close_stdin() -> None:
    """Redirect standard input, so that programs started by a worker read nothing."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _load(body: str, preload: Sequence[str], grants: Mapping[str, Any] | None) -> Work:
    module = importlib.import_module(body)
    module.load(preload, grants)
    work: Work = module.work
    return work


def _reap(workers: set[int]) -> None:
    """Collect dead children, and kill orphans that were reparented to this process."""
    for pid in lifeline.children():
        if pid not in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        workers.discard(pid)


def _end_all() -> None:
    """Kill and collect children until there are none; new orphans arrive as their parents die."""
    while True:
        for pid in lifeline.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _do_nothing(number: int, frame: FrameType | None) -> None:
    pass
