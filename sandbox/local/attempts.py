"""Tries each layer of the sandbox for real, each in a process of its own that ends at once.

`probe.layers` starts this file as a script (`python -I -S attempts.py`) and reads what it prints: one
JSON object, by layer an empty text, or what failed. It imports nothing of Verigym but files beside it
that do not either. What it mounts or makes goes with the process that made it.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import json
import mmap
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from types import ModuleType

_SERVER, _NOBODY = 65533, 65534
_NEW_CGROUP, _NEW_TIME = 0x02000000, 0x00000080
_PR_CAPBSET_READ, _PR_GET_NO_NEW_PRIVS = 23, 39


def _load(name: str) -> ModuleType:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


system, seccomp, landlock = _load("system"), _load("seccomp"), _load("landlock")


def _user(flags: int = 0) -> None:
    """Enter a user namespace with the ids that the sandbox maps, and further new ones."""
    uid, gid = os.getuid(), os.getgid()
    ask_read, ask_write = os.pipe()
    answer_read, answer_write = os.pipe()
    inside = os.getpid()
    mapper = os.fork()
    if mapper == 0:  # outside the new namespace, with the capabilities to map more than one id
        os.close(ask_write)
        os.read(ask_read, 1)
        trouble = ""
        try:
            if uid == 0:
                for kind in ("uid", "gid"):
                    ids = f"0 {_SERVER} 1\n{_NOBODY} {_NOBODY} 1"
                    _write(f"/proc/{inside}/{kind}_map", ids)
            else:
                _write(f"/proc/{inside}/setgroups", "deny")
                _write(f"/proc/{inside}/uid_map", f"0 {uid} 1")
                _write(f"/proc/{inside}/gid_map", f"0 {gid} 1")
        except OSError as error:
            trouble = _said(error)
        os.write(answer_write, trouble.encode() or b"\0")
        os._exit(0)
    try:
        system.unshare(system.NEW_USER | flags)
    except OSError:
        os.kill(mapper, signal.SIGKILL)
        raise
    os.write(ask_write, b"1")
    answer = os.read(answer_read, 1000).decode()
    os.waitpid(mapper, 0)
    if answer != "\0":
        raise OSError(errno.EPERM, f"mapping ids: {answer}")
    if uid == 0:
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _want(condition: bool, what: str) -> None:
    if not condition:
        raise OSError(errno.ENOTSUP, what)


def _in_child(work: Callable[[], None]) -> None:
    trouble = _finish(*_start(work))
    if trouble:
        raise OSError(errno.EPERM, trouble)


def _private_mounts(flags: int = 0) -> None:
    _user(system.NEW_MOUNT | flags)
    system.mount("none", "/", None, system.RECURSIVE | system.PRIVATE)


def _pid() -> None:
    _user(system.NEW_PID)
    _in_child(lambda: _want(os.getpid() == 1, "the first process of a pid namespace is not 1"))


def _ipc() -> None:
    _user(system.NEW_IPC)


def _uts() -> None:
    _user(system.NEW_UTS)
    socket.sethostname("sandbox")


def _net() -> None:
    _user(system.NEW_NET)
    names = [name for _, name in socket.if_nameindex()]
    # A kernel may give every namespace a few tunnels, all of them down and without address.
    _want("lo" in names and "eth0" not in names, f"a new network namespace has {names}")


def _cgroup() -> None:
    _user(_NEW_CGROUP)


def _time() -> None:
    _user(_NEW_TIME)


def _proc() -> None:
    _private_mounts(system.NEW_PID)

    def mount() -> None:
        flags = system.NO_SUID | system.NO_DEV | system.NO_EXEC
        system.mount("proc", "/proc", "proc", flags, "subset=pid,hidepid=2")
        others = [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        _want(
            not others and not os.path.exists("/proc/kallsyms"), "a new /proc shows more than pids"
        )

    _in_child(mount)


def _tmpfs() -> None:
    _private_mounts()
    system.mount("t", "/proc", "tmpfs", system.NO_SUID | system.NO_DEV, "size=1m,nr_inodes=100")
    found = os.statvfs("/proc")
    _want(found.f_blocks * found.f_frsize == 1 << 20 and found.f_files == 100, "no bounds on it")


def _root() -> None:
    """A tmpfs becomes the root, with the null device and a folder of the host in it, read-only."""
    _private_mounts()
    system.mount("t", "/proc", "tmpfs", system.NO_SUID | system.NO_DEV, "size=1m")
    for name in ("usr", "null"):
        (os.mkdir if name == "usr" else os.mknod)(f"/proc/{name}")
    system.mount("/usr", "/proc/usr", None, system.BIND | system.RECURSIVE)
    system.mount("/dev/null", "/proc/null", None, system.BIND)
    system.set_mount("/proc/usr", system.READ_ONLY | system.NO_SUID | system.NO_DEV)
    system.enter_root("/proc")
    _want(sorted(os.listdir("/")) == ["null", "usr"], "the old root is still to be seen")
    _want(bool(os.statvfs("/usr").f_flag & os.ST_RDONLY), "the host's folders cannot be read-only")
    _write("/null", "x")


def _capabilities() -> None:
    _user()
    system.bound_capabilities()
    system.drop_capabilities()
    _want(system._libc.prctl(_PR_CAPBSET_READ, 0, 0, 0, 0) == 0, "the bounding set stays")
    try:
        system.unshare(system.NEW_UTS)
    except PermissionError:
        return
    raise OSError(errno.ENOTSUP, "a capability is left after all were dropped")


def _no_new_privs() -> None:
    system.prctl(system.SET_NO_NEW_PRIVS, 1)
    _want(system._libc.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "it cannot be read back")


def _seccomp() -> None:
    seccomp.install(seccomp.job_filter())
    try:
        system.unshare(system.NEW_UTS)
    except OSError as error:
        if error.errno == errno.ENOSYS:
            return
    raise OSError(errno.ENOTSUP, "the filter was taken and filters nothing")


def _landlock() -> None:
    landlock.restrict([], [])
    try:
        os.listdir("/")
    except PermissionError:
        return
    raise OSError(errno.ENOTSUP, "the rules were taken and withhold nothing")


def _rlimits() -> None:
    for what in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_CPU):
        _, hard = resource.getrlimit(what)
        most = 1 << 30 if hard == resource.RLIM_INFINITY else min(hard, 1 << 30)
        resource.setrlimit(what, (most, most))
    try:
        mmap.mmap(-1, 2 << 30).close()
    except OSError:
        return
    raise OSError(errno.ENOTSUP, "a limit on address space does not hold")


ATTEMPTS: dict[str, Callable[[], None]] = {
    "user namespace": _user,
    "mount namespace": _private_mounts,
    "private root": _root,
    "bounded disk": _tmpfs,
    "pid namespace": _pid,
    "private /proc": _proc,
    "network namespace": _net,
    "ipc namespace": _ipc,
    "uts namespace": _uts,
    "capabilities": _capabilities,
    "no_new_privs": _no_new_privs,
    "seccomp": _seccomp,
    "rlimits": _rlimits,
    "landlock": _landlock,
    "cgroup namespace": _cgroup,
    "time namespace": _time,
}


def _said(error: OSError) -> str:
    name = errno.errorcode.get(error.errno or 0, "error")
    return f"{name}: {error.strerror}" + (f" {error.filename}" if error.filename else "")


def _start(work: Callable[[], None]) -> tuple[int, int]:
    """Run `work` in a child: its pid, and the descriptor to read its report from."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            work()
        except OSError as error:
            os.write(write, _said(error).encode("utf-8", "replace"))
        except BaseException as error:  # noqa: BLE001
            # A fork reports and ends, it never unwinds.
            os.write(write, f"{type(error).__name__}: {error}".encode("utf-8", "replace"))
        else:
            os.write(write, b"\0")
        os._exit(0)
    os.close(write)
    return pid, read


def _finish(pid: int, read: int) -> str:
    """An empty text, or what failed."""
    with os.fdopen(read, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    status = os.waitpid(pid, 0)[1]
    return text.rstrip("\0") if text else f"killed by signal {status & 0x7F}"


def main() -> None:
    """Print what came of each attempt."""
    os.umask(0o077)
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # All at once: most of the time goes into waiting for the kernel to end namespaces.
    started = {name: _start(attempt) for name, attempt in ATTEMPTS.items()}
    found = {name: _finish(*child) for name, child in started.items()}
    json.dump({"attempts": found, "landlock": landlock.abi()}, sys.stdout)


if __name__ == "__main__":
    main()
