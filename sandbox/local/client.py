"""`LocalSandbox`: programs in processes of this machine, confined by what its kernel offers.

See docs/sandbox.md for what each layer stops and what is not stopped.
"""

from __future__ import annotations

import array
import marshal
import os
import re
import resource
import socket
import struct
import threading
import time
import weakref
from typing import Any

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import JobStatus, Result
from verigym.sandbox.languages.load import find, load_languages
from verigym.sandbox.local import cgroup
from verigym.sandbox.local.child import MAX_MESSAGE
from verigym.sandbox.local.collect import HEADER
from verigym.sandbox.local.group import Group
from verigym.sandbox.local.interpreter import (
    ENVIRONMENT,
    PACKAGES,
    settings,
    visible_program,
)
from verigym.sandbox.local.judge import judge
from verigym.sandbox.local.pool import Key, Pool
from verigym.sandbox.local.server import Server, Slot, memory_file
from verigym.sandbox.local.watch import Seen, Stream, follow
from verigym.sandbox.step import Channel, Step

_SCIENCE = re.compile("|".join((*PACKAGES, "mpmath", "dateutil")).encode())
# What a process reads when it starts: a warm one has started already.
_START_VARIABLES = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "OMP_", "OPENBLAS_", "MKL_", "LC_", "TZ")
_WARM_FLAGS = ("-s", "-B", "-X", "utf8")
_TRIES = 3
_FETCH_S = 20.0
# Of the slot and of the kernel, in the job's control group.
_SLACK_MIB = 16


class LocalSandbox(Sandbox):
    """Runs each job in a process forked ahead of time, in namespaces of its own.

    `max_jobs` (default: the processor count, at least 2) bounds how many run at once; further callers
    wait. `warm` names what is started at once rather than at first need: "bare" (Python without
    further packages) and "science" (numpy, sympy and pandas, where they are installed). Raises
    SandboxError where a required layer is missing.
    """

    name = "local"

    def __init__(
        self,
        *,
        max_jobs: int | None = None,
        allow_network: bool = False,
        warm: tuple[str, ...] = ("bare",),
    ) -> None:
        for kind in warm:
            if kind not in ("bare", "science"):
                raise RequestError(f"warm must hold 'bare' or 'science', got {kind!r}")
        if max_jobs is None:
            max_jobs = max(2, os.cpu_count() or 1)
        self._known = load_languages()
        languages = find(self._known, visible_program)
        super().__init__(max_jobs=max_jobs, languages=languages, allow_network=allow_network)
        self._groups, self._no_groups = cgroup.find()
        self._group_count = 0
        self._count_lock = threading.Lock()
        self._pool = Pool(self._settings, self._make_group, max_jobs)
        self._finalizer = weakref.finalize(self, _close, self._pool, os.getpid())
        _living.add(self)
        try:
            for kind in warm:
                self._pool.server((kind == "science", False))
        except OSError as error:
            self.close()
            raise SandboxError(f"the warm server cannot be started: {error}") from error
        except SandboxError:
            self.close()
            raise

    def describe(self) -> dict[str, Any]:
        """What is active here, for people and for the record: JSON."""
        return {
            "backend": self.name,
            "tier": "namespaces",
            "languages": sorted(self.languages),
            "max_jobs": self.max_jobs,
            "network": self.allow_network,
            "cgroups": self._groups.version if self._groups else f"none: {self._no_groups}",
            "servers": [server.pid for server in self._pool.servers().values()],
        }

    def close(self) -> None:
        """Kill what runs and end the warm servers. May be repeated."""
        self._finalizer()
        super().close()

    def _settings(self, key: Key) -> dict[str, Any]:
        return settings(self._known.values(), science=key[0], network=key[1], layers={})

    def _make_group(self) -> Group | None:
        if self._groups is None:
            return None
        with self._count_lock:
            self._group_count += 1
            number = self._group_count
        return self._groups.make(f"{id(self):x}_{number}")

    def _execute(self, step: Step, cancellation: Cancellation) -> Result:
        detail = ""
        for _ in range(_TRIES):
            try:
                result = self._try(step, cancellation)
            except (OSError, SandboxError) as error:
                detail = f"{type(error).__name__}: {error}"
                result = None
            if cancellation.cancelled:
                break
            if result is not None:
                return result
        if cancellation.cancelled:
            return Result(status=JobStatus.SANDBOX_ERROR, detail="cancelled by the caller")
        return Result(status=JobStatus.SANDBOX_ERROR, detail=detail or "no slot takes the job")

    def _try(self, step: Step, cancellation: Cancellation) -> Result | None:
        """The result of `step`, or None where its slot was gone before it began."""
        key = (_wants_science(step), step.network)
        server, slot = self._pool.take(key)
        healthy = False
        try:
            sent = time.monotonic()
            streams = self._send(step, server, slot)
            out, err = (Stream(fd, step.limits.output_bytes) for fd in streams)
            seen = Seen(out, err)
            try:
                with cancellation.calling(lambda: slot.tell(b"K%d" % slot.sequence)):
                    follow(slot, step.limits, seen)
                if step.fetch and not seen.lost and seen.started is not None:
                    _fetch(slot, step, seen)
                elif step.fetch:
                    seen.lost = True
            finally:
                for fd in streams:
                    os.close(fd)
            if seen.started is None and not seen.error and seen.killed is None:
                return None
            out_of_memory = False
            if slot.group is not None and (seen.lost or seen.status):
                out_of_memory = slot.group.oom_kills() > 0
                if out_of_memory:
                    slot.group.reset()
            if seen.started is not None:
                seen.wall_s = (time.monotonic() if seen.lost else seen.wall_s) - seen.started
            else:
                seen.wall_s = time.monotonic() - sent
            healthy = not seen.lost and seen.started is not None
            return judge(step, seen, out_of_memory=out_of_memory)
        finally:
            if healthy:
                self._pool.give_back(key, server, slot)
            else:
                self._pool.discard(key, server, slot)

    def _send(
        self, step: Step, server: Server, slot: Slot, stdin: int | None = None
    ) -> tuple[int, int]:
        """Give `step` to `slot`; this side's ends of standard output and error."""
        limits = step.limits
        if slot.group is not None:
            bounds = (limits.memory_mib + limits.disk_mib + _SLACK_MIB, limits.processes + 4)
            if slot.bounds != bounds:
                slot.group.set(bounds[0] << 20, bounds[1])
                slot.bounds = bounds
        disk = (limits.disk_mib, limits.inodes)
        if slot.disk != disk:
            slot.control.send(b"S%d %d" % (disk[0] << 20, disk[1] + 1))
            slot.control.settimeout(10.0)
            if slot.control.recv(4096) != b"S":
                raise SandboxError("the slot cannot set the size of its file system")
            slot.control.settimeout(None)
            slot.disk = disk
        if step.fetch:
            slot.control.send(b"H")
        data = marshal.dumps(_order(step, server))
        fds = []
        try:
            out_read, out_write = os.pipe()
            fds += [out_read, out_write]
            err_read, err_write = os.pipe()
            fds += [err_read, err_write]
            sent = [out_write, err_write]
            if stdin is not None:
                sent.append(stdin)
            elif len(step.stdin) > _INLINE_STDIN:
                sent.append(memory_file(step.stdin))
                fds.append(sent[-1])
            if len(data) <= MAX_MESSAGE:
                message = b"I" + data
            else:
                message = b"F"
                sent.append(memory_file(data))
                fds.append(sent[-1])
            os.set_blocking(out_read, False)
            os.set_blocking(err_read, False)
            ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", sent))]
            slot.jobs.sendmsg([message], ancillary)
        except BaseException:
            for fd in fds:
                os.close(fd)
            raise
        for fd in fds:
            if fd not in (out_read, err_read):
                os.close(fd)
        return out_read, err_read

    def _connect(self, step: Step) -> Channel:
        raise SandboxError("sessions are not here yet")


_INLINE_STDIN = 32 << 10


def _wants_science(step: Step) -> bool:
    if step.python is None:
        return False
    return any(_SCIENCE.search(data) for name, data in step.files.items() if name.endswith(".py"))


def _order(step: Step, server: Server) -> dict[str, Any]:
    warm = _is_warm(step, server)
    argv = list(step.argv)
    if warm:
        argv = argv[argv.index(str(step.python)) :]
    return {
        "python": step.python if warm else None,
        "argv": argv,
        "env": dict(step.env) if warm else {**ENVIRONMENT, **step.env},
        "files": [
            (name, data, 0o755 if name in step.executable else 0o644)
            for name, data in step.files.items()
        ],
        "stdin": step.stdin if len(step.stdin) <= _INLINE_STDIN else b"",
        "rlimits": _rlimits(step, server, warm),
    }


def _is_warm(step: Step, server: Server) -> bool:
    """Whether the server's own interpreter can run `step` as one started for it would."""
    if step.python is None or step.argv[0] != "python3" or step.python not in step.argv:
        return False
    if step.argv[1 : step.argv.index(step.python)] != _WARM_FLAGS:
        return False
    for name, value in step.env.items():
        if name.startswith(_START_VARIABLES) and server.settings["env"].get(name) != value:
            return False
    # A module of the job's own would be hidden by one that is loaded already.
    tops = {name.partition("/")[0].removesuffix(".py") for name in step.files}
    return tops.isdisjoint(server.modules)


def _rlimits(step: Step, server: Server, warm: bool) -> list[tuple[int, int, int]]:
    limits = step.limits
    cpu_s = max(1, int(limits.cpu_s + 0.999))
    if step.python is not None:
        address_space = limits.memory_mib + server.hello["address_space_mib"]
    else:
        address_space = step.address_space_mib or limits.memory_mib
    disk = limits.disk_mib << 20
    rlimits = [
        (resource.RLIMIT_AS, address_space << 20),
        (resource.RLIMIT_FSIZE, disk),
        (resource.RLIMIT_NOFILE, limits.open_files),
        # 1, not 0: the kernel starts a core_pattern program at 0, and gives up at 1; see core(5).
        (resource.RLIMIT_CORE, 1),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 256),
        # Counted in the slot's user namespace; an ordinary user's slot is of the same user.
        (resource.RLIMIT_NPROC, limits.processes + (0 if server.settings["as_root"] else 1)),
    ]
    return [
        *((what, _at_most(what, most), _at_most(what, most)) for what, most in rlimits),
        (
            resource.RLIMIT_CPU,
            _at_most(resource.RLIMIT_CPU, cpu_s),
            _at_most(resource.RLIMIT_CPU, cpu_s + 1),
        ),
    ]


def _at_most(what: int, wanted: int) -> int:
    """`wanted`, or the hard limit of this process where that is lower."""
    _, hard = resource.getrlimit(what)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _fetch(slot: Slot, step: Step, seen: Seen) -> None:
    """Bring back what the job left, while the slot holds its file system."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            socket.send_fds(slot.control, [b"F"], [theirs.fileno()])
        ours.settimeout(_FETCH_S)
        wanted = {
            "names": list(step.fetch),
            "bytes": step.limits.output_bytes,
            "total": step.limits.disk_mib << 20,
        }
        data = marshal.dumps(wanted)
        try:
            ours.sendall(struct.pack("=I", len(data)) + data)
            with ours.makefile("rb") as reply:
                while True:
                    header = reply.read(HEADER.size)
                    if len(header) < HEADER.size:
                        raise OSError("the collector of files ended early")
                    kind, name_bytes, data_bytes = HEADER.unpack(header)
                    if kind == b"Z":
                        return
                    name = reply.read(name_bytes).decode("utf-8", "backslashreplace")
                    content = reply.read(data_bytes)
                    if kind == b"D":
                        seen.files[name] = content
                    else:
                        seen.refused[name] = content.decode()
        except OSError as error:
            seen.lost = True
            seen.error = f"the job's files could not be brought back: {error}"


_living: weakref.WeakSet[LocalSandbox] = weakref.WeakSet()
_shared: LocalSandbox | None = None
_shared_lock = threading.Lock()


def default_sandbox() -> LocalSandbox:
    """The one instance that this process shares, made at the first call."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = LocalSandbox()
        return _shared


def _close(pool: Pool, owner: int) -> None:
    if os.getpid() == owner:
        pool.close()


def _forget_after_fork() -> None:
    # A fork copies the locks as they stand, perhaps held by threads that it does not have.
    global _shared, _shared_lock
    _shared = None
    _shared_lock = threading.Lock()
    for sandbox in list(_living):
        sandbox._pool.forget()


os.register_at_fork(after_in_child=_forget_after_fork)
