"""The client's side of a warm server and of its slots: starting them, and their ends."""

from __future__ import annotations

import contextlib
import fcntl
import marshal
import os
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.local.group import ControlGroup
from verigym.sandbox.local.interpreter import BOOT, interpreter, sources
from verigym.sandbox.remove import remove_tree

START_S = 60.0
"""For a server to start; a machine that needs longer is broken or far too busy."""
SLOT_S = 30.0
_GRACE_S = 5.0
_CREDENTIALS = struct.Struct("3i")


class Slot:
    """One slot of a server, for one job at a time. See slot.py for what goes over its sockets."""

    def __init__(
        self,
        jobs: socket.socket,
        control: socket.socket,
        pid: int,
        group: ControlGroup | None,
        folder: str | None,
    ) -> None:
        self.jobs = jobs
        self.control = control
        self.pid = pid
        self.group = group
        # Without namespaces: the folder of the host where its jobs write.
        self.folder = folder
        # What a warm process has of its server's memory, which is not the job's.
        self.base_bytes = 0
        self.pidfd = os.pidfd_open(pid)
        # Set by the pool. The thread whose job runs in it closes a busy slot, nobody else.
        self.busy = True
        self._idle = select.poll()
        self._idle.register(control.fileno(), select.POLLIN)
        self.sequence = 1
        self.disk = (32, 4096)
        self.bounds = (0, 0)

    def is_idle(self) -> bool:
        """Return True if the slot is alive and silent, and so ready for another job."""
        return not self._idle.poll(0)

    def tell(self, message: bytes) -> None:
        """Send a message that the slot's end makes pointless."""
        with contextlib.suppress(OSError):
            self.control.send(message)

    def kill(self) -> None:
        """Kill the slot and with it every process of its job."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def close(self) -> None:
        """End the slot: wait until it is gone, for a while, and give back what it held."""
        if self.pidfd < 0:
            return
        self.kill()
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        poll.poll(_GRACE_S * 1000)
        self.forget()
        if self.group is not None:
            with contextlib.suppress(OSError):
                self.group.remove()

    def forget(self) -> None:
        """Close this process's ends alone."""
        self.jobs.close()
        self.control.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1


class WarmServer:
    """One warm server. `make_group` gives each slot a control group, where there are any."""

    def __init__(
        self, settings: dict[str, Any], make_group: Callable[[], ControlGroup | None]
    ) -> None:
        self.settings = settings
        self._make_group = make_group
        self._lock = threading.Lock()
        self.slots: set[Slot] = set()
        self.closed = False
        self._folder = None if settings["namespaces"] else _make_folder()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        bundle = os.memfd_create("verigym", os.MFD_CLOEXEC)
        try:
            with os.fdopen(os.dup(bundle), "wb") as file:
                file.write(marshal.dumps(({**settings, "folder": self._folder}, sources())))
            os.lseek(bundle, 0, os.SEEK_SET)
            fds = (bundle, theirs.fileno())
            self._process = subprocess.Popen(
                [interpreter()[0], "-I", "-S", "-c", BOOT, "keeper", *map(str, fds)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=fds,
                start_new_session=True,
                cwd="/",
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            )
        except BaseException:
            self._control.close()
            raise
        finally:
            theirs.close()
            os.close(bundle)
        assert self._process.stderr is not None
        self._stderr = self._process.stderr
        try:
            self.hello = self._await_hello()
            self.modules = frozenset(self.hello["modules"])
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Id of the process of this machine that holds the server."""
        return self._process.pid

    def _await_hello(self) -> dict[str, Any]:
        self._control.settimeout(START_S)
        try:
            message = self._control.recv(1 << 16)
        except TimeoutError:
            raise SandboxError(f"the warm server did not start within {START_S:g} s") from None
        if message[:1] != b"R":
            text = message[1:].decode("utf-8", "replace")
            if not text:
                os.set_blocking(self._stderr.fileno(), False)
                self._process.poll()
                text = (self._stderr.read() or b"").decode("utf-8", "replace")[-500:].strip()
            raise SandboxError(f"the warm server did not start: {text or 'it was killed'}")
        hello: dict[str, Any] = marshal.loads(message[1:])
        return hello

    def start_slot(self) -> Slot:
        """Return a new slot, ready for a job. Raises SandboxError or OSError if there can be none."""
        jobs, their_jobs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control, their_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        group = None
        try:
            with their_jobs, their_control:
                control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                control.settimeout(SLOT_S)
                fds = [their_jobs.fileno(), their_control.fileno()]
                socket.send_fds(self._control, [b"S"], fds)
            message, ancillary, _, _ = control.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
            if message[:1] != b"R":
                text = message[1:].decode("utf-8", "replace")
                raise SandboxError(f"a slot did not start: {text or 'its server has ended'}")
            pid = _CREDENTIALS.unpack(ancillary[0][2])[0]
            control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
            control.settimeout(None)
            jobs.settimeout(None)
            group = self._make_group()
            if group is not None:
                for fd in group.procs_fds():
                    os.write(fd, b"%d" % pid)
            # Only now does it fork: its children are born into the group.
            control.send(b"G")
            slot = Slot(jobs, control, pid, group, message[1:].decode() or None)
        except TimeoutError:
            jobs.close()
            control.close()
            raise SandboxError(f"a slot did not start within {SLOT_S:g} s") from None
        except BaseException:
            jobs.close()
            control.close()
            if group is not None:
                group.remove()
            raise
        slot.base_bytes = self.hello["resident_mib"] << 20
        with self._lock:
            self.slots.add(slot)
        return slot

    def end_slot(self, slot: Slot) -> None:
        """Close `slot` and forget it."""
        with self._lock:
            self.slots.discard(slot)
        slot.close()

    def alive(self) -> bool:
        """Return True if the server runs."""
        if self.closed:
            return False
        poll = select.poll()
        poll.register(self._control.fileno(), select.POLLIN)
        return not poll.poll(0)  # it says nothing after its greeting

    def close(self) -> None:
        """End the server with all that runs in it, and wait for it. May be repeated.

        Busy slots end too; the threads that wait for their jobs close them.
        """
        with self._lock:
            if self.closed:
                return
            self.closed = True
            slots, self.slots = list(self.slots), set()
        self._control.close()
        for slot in slots:
            slot.kill()
        for slot in slots:
            if not slot.busy:
                slot.close()
        try:
            self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()
        if self._folder is not None:
            remove_tree(Path(self._folder))

    def forget(self) -> None:
        """Close this process's ends, and leave the server to the process that has it; to be called in a fork."""
        self.closed = True
        self._control.close()
        self._stderr.close()
        for slot in self.slots:
            slot.forget()
        self._process.returncode = 0  # or its end would be waited for, which it is not ours to do


def _make_folder() -> str:
    """A folder below which slots make those of their jobs: others may pass, and not list."""
    folder = tempfile.mkdtemp(prefix="verigym-")
    os.chmod(folder, 0o711)
    return folder


def memory_file(data: bytes) -> int:
    """Return a descriptor of an anonymous file of `data` that nobody can change."""
    fd = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(os.dup(fd), "wb") as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    except BaseException:
        os.close(fd)
        raise
    return fd
