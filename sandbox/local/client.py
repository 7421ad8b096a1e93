"""`LocalSandbox`: programs in processes of this machine, confined by what its kernel offers.

See docs/sandbox.md for what each layer stops and what is not stopped.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterable
from functools import partial
from typing import Any

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import JobStatus, Result
from verigym.sandbox.languages.load import find, load_languages
from verigym.sandbox.local import cgroup, landlock
from verigym.sandbox.local.channel import LocalChannel
from verigym.sandbox.local.fetch import fetch
from verigym.sandbox.local.group import ControlGroup
from verigym.sandbox.local.interpreter import IMAGES, settings, visible_program
from verigym.sandbox.local.judge import judge
from verigym.sandbox.local.order import image, send
from verigym.sandbox.local.pool import Key, SlotPool
from verigym.sandbox.local.server import Slot, WarmServer
from verigym.sandbox.local.watch import Seen, WatchedStream, follow
from verigym.sandbox.step import Channel, ProgramRun

ACCEPT_VARIABLE = "VERIGYM_SANDBOX_ACCEPT"
MAY_MISS = ("namespaces",)
"""Layers that `accept` may name."""
_TRIES = 3


class LocalSandbox(Sandbox):
    """Runs each job in a process forked ahead of time, in namespaces of its own.

    `max_jobs` (default: the processor count, at least 2) bounds how many run at once; further callers
    wait. `warm` names what is started at once rather than at first need: "bare" (Python alone),
    "numpy", "science" (numpy, sympy and pandas; each where it is installed). Raises SandboxError
    if a required layer is missing, unless `accept` (or the environment variable
    VERIGYM_SANDBOX_ACCEPT) says "namespaces": then jobs go without those, behind Landlock, the system
    call filter and rlimits alone.
    """

    name = "local"

    def __init__(
        self,
        *,
        max_jobs: int | None = None,
        allow_network: bool = False,
        accept: str | Iterable[str] = (),
        warm: tuple[str, ...] = ("bare",),
    ) -> None:
        for kind in warm:
            if kind not in IMAGES:
                raise RequestError(f"warm must hold names of {', '.join(IMAGES)}; got {kind!r}")
        accepted = {accept} if isinstance(accept, str) else set(accept)
        accepted.update(os.environ.get(ACCEPT_VARIABLE, "").replace(",", " ").split())
        if not accepted <= set(MAY_MISS):
            wanted = ", ".join(MAY_MISS)
            raise RequestError(f"accept may hold {wanted}; got {', '.join(sorted(accepted))}")
        if max_jobs is None:
            max_jobs = max(2, os.cpu_count() or 1)
        self._known = load_languages()
        self._found = find(self._known, visible_program)
        super().__init__(max_jobs=max_jobs, languages=self._found, allow_network=allow_network)
        self._groups, self._no_groups = cgroup.find()
        self._group_count = 0
        self._count_lock = threading.Lock()
        self._pool = SlotPool(self._settings, self._make_group, max_jobs)
        self._finalizer = weakref.finalize(self, _close, self._pool)
        _living.add(self)
        self._namespaces = True
        try:
            self._start(warm, "namespaces" in accepted)
        except BaseException:
            self.close()
            raise

    def _start(self, warm: tuple[str, ...], may_be_weaker: bool) -> None:
        if self._groups is not None:
            self._groups.sweep()
        first = (warm[0] if warm else "bare", False)
        try:
            server = self._pool.server(first)
            # Some layers are first tried here.
            self._pool.give_back(first, server, server.start_slot(), is_new=True)
        except (OSError, SandboxError) as error:
            if not may_be_weaker:
                raise SandboxError(
                    f"a layer that the sandbox needs is missing here: {error}. `verigym sandbox "
                    "doctor` says which and why. To run programs without namespaces all the same, "
                    'with the host\'s folders in sight: LocalSandbox(accept="namespaces"), --accept '
                    f"namespaces, or {ACCEPT_VARIABLE}=namespaces in the environment"
                ) from error
            self._namespaces = False
            if not landlock.abi():
                raise SandboxError(
                    f"neither namespaces ({error}) nor Landlock are available here, so nothing would "
                    "keep programs from the host's files; use the docker or the remote backend"
                ) from error
            self._pool.server(first)
        for kind in warm[1:]:
            self._pool.server((kind, False))

    def describe(self) -> dict[str, Any]:
        """Return the active configuration as JSON, for people and for records."""
        return {
            "backend": self.name,
            "tier": "strong" if self._namespaces else "weaker",
            "layers": self._layers(),
            "languages": sorted(self.languages),
            "max_jobs": self.max_jobs,
            "network": self.allow_network,
            "cgroups": self._no_groups or f"version {self._groups.version if self._groups else 0}",
            "servers": [server.pid for server in self._pool.servers().values()],
        }

    def _layers(self) -> dict[str, Any]:
        spaces = ["user", "mount", "pid", "net", "ipc", "uts"]
        return {
            "namespaces": spaces if self._namespaces else [],
            "seccomp": True,
            "no_new_privs": True,
            "landlock": landlock.abi(),
            "cgroups": self._groups.version if self._groups else 0,
        }

    def close(self) -> None:
        """Kill what runs and end the warm servers. May be repeated."""
        self._finalizer()
        super().close()
        if self._groups is not None:
            self._groups.close()

    def _forget(self) -> None:
        """In a fork: begin anew, beside the process that has the servers and holds the locks."""
        super().__init__(
            max_jobs=self.max_jobs,
            languages=self._found,
            allow_network=self.allow_network,
        )
        self._count_lock = threading.Lock()
        self._pool.forget()

    def _settings(self, key: Key) -> dict[str, Any]:
        groups: dict[str, Any] = {"parents": [], "prefix": ""}
        if self._groups is not None:
            parents = list(dict.fromkeys(self._groups.parents.values()))
            groups = {"parents": parents, "prefix": cgroup.owned_prefix()}
        return settings(
            self._known.values(),
            image=key[0],
            network=key[1],
            namespaces=self._namespaces,
            groups=groups,
        )

    def _make_group(self) -> ControlGroup | None:
        if self._groups is None:
            return None
        with self._count_lock:
            self._group_count += 1
            number = self._group_count
        return self._groups.make(f"{id(self):x}_{number}")

    def _execute(self, step: ProgramRun, cancellation: Cancellation) -> Result:
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

    def _try(self, step: ProgramRun, cancellation: Cancellation) -> Result | None:
        """The result of `step`, or None if its slot was gone before it began."""
        key = (image(step), step.network)
        server, slot = self._pool.take(key)
        healthy = False
        try:
            sent = time.monotonic()
            streams = send(step, server, slot)
            out, err = (WatchedStream(fd, step.limits.output_bytes) for fd in streams)
            seen = Seen(out, err)
            try:
                with cancellation.calling(lambda: slot.tell(b"K%d" % slot.sequence)):
                    follow(slot, step.limits, seen)
                if step.fetch and not seen.lost and seen.started is not None:
                    fetch(slot, step, seen)
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
            self._release(key, server, slot, healthy)

    def _connect(self, step: ProgramRun) -> Channel:
        trouble: Exception | None = None
        for _ in range(_TRIES):
            key = (image(step), step.network)
            try:
                server, slot = self._pool.take(key)
                return LocalChannel(step, server, slot, partial(self._release, key, server, slot))
            except (OSError, SandboxError) as error:
                trouble = error
        raise SandboxError(f"the step does not start: {trouble}") from trouble

    def _release(self, key: Key, server: WarmServer, slot: Slot, healthy: bool) -> None:
        if healthy:
            self._pool.give_back(key, server, slot)
        else:
            self._pool.discard(key, server, slot)


_living: weakref.WeakSet[LocalSandbox] = weakref.WeakSet()
_shared: LocalSandbox | None = None
_shared_lock = threading.Lock()


def default_sandbox() -> LocalSandbox:
    """Return the one instance that this process shares, made at the first call."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = LocalSandbox()
        return _shared


def _close(pool: SlotPool) -> None:
    if os.getpid() == pool.owner:
        pool.close()


def _forget_after_fork() -> None:
    # A fork copies the locks as they stand, perhaps held by threads that it does not have.
    global _shared, _shared_lock
    _shared = None
    _shared_lock = threading.Lock()
    for sandbox in list(_living):
        sandbox._forget()


os.register_at_fork(after_in_child=_forget_after_fork)
