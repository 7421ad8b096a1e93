"""The warm server: holds an interpreter with its modules loaded, and forks slots from it.

It is started inside the sandbox's root (keeper.py), as the first process of a pid namespace, and sees
nothing of the host. Each slot (slot.py) is the first process of a pid namespace of its own, with mount,
network, ipc, uts and user namespaces of its own, and runs job after job.
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from verigym.sandbox.local import child, plain, root, slot, system

_NOBODY = 65534


def main(settings: dict[str, Any], control_fd: int) -> NoReturn:
    """Serve until the other end of `control_fd` is closed."""
    settings["slots"] = 0
    if not settings["namespaces"]:
        system.prctl(system.SET_CHILD_SUBREAPER, 1)
    control = socket.socket(fileno=control_fd)
    control.settimeout(None)
    os.set_inheritable(control_fd, False)
    # Jobs must not inherit what the client was started with: in the background of a script SIGINT and
    # SIGQUIT are ignored. Process 1 of its namespace gets none of them itself.
    ignored_by_python = {signal.SIGPIPE, signal.SIGXFSZ}
    for number in signal.valid_signals() - ignored_by_python - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    if not settings["namespaces"]:
        sys.path += dict.fromkeys(os.path.dirname(path) for path, _ in settings["packages"])
    before = set(sys.modules)
    missing = []
    for name in settings["modules"]:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    child.find_generators()
    # What modules want done after a fork waits for the forks of the programs: see child.py.
    os.register_at_fork = settings["register"]
    child.register(settings["hooks"])
    # What the program could see of this server: its own modules leave nothing behind.
    for name in [name for name in sys.modules if name.partition(".")[0] == "verigym"]:
        del sys.modules[name]
    hello = {
        "modules": sorted({name.partition(".")[0] for name in sys.modules}),
        "missing": missing,
        "loaded": len(sys.modules) - len(before),
        "address_space_mib": _size_mib(0),
        "resident_mib": _size_mib(1),
    }
    _forget_paths()
    child.warm_up()
    gc.collect()
    gc.freeze()
    gc.disable()
    control.send(b"R" + marshal.dumps(hello))
    poll = select.poll()
    poll.register(control_fd, select.POLLIN)
    slots: dict[int, str] = {}
    while True:
        poll.poll(1000 if settings["namespaces"] else 50)  # orphans of slots come here to be reaped
        _reap(slots, settings)
        try:
            message, fds, _, _ = socket.recv_fds(control, 16, 4, socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        if not message:
            os._exit(0)
        if settings["namespaces"]:
            _start_slot(settings, control, fds)
        else:
            _start_plain_slot(settings, control, fds, slots)
        for fd in fds:
            os.close(fd)


def _reap(slots: dict[int, str], settings: dict[str, Any]) -> None:
    try:
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            if pid in slots:
                plain.remove_folder(slots.pop(pid))
        if not settings["namespaces"]:
            plain.kill_all(spared=slots)
    except ChildProcessError:
        pass


def _start_plain_slot(
    settings: dict[str, Any], control: socket.socket, fds: list[int], slots: dict[int, str]
) -> None:
    settings["slots"] += 1
    folder = f"{settings['folder']}/{settings['slots']}"
    pid = os.fork()
    if pid == 0:
        control.close()
        own = {**settings, "folder": folder}
        settings.clear()  # also what the callers of this hold: see OF_THE_HOST
        slot.main(own, *fds)
    slots[pid] = folder


def _start_slot(settings: dict[str, Any], control: socket.socket, fds: list[int]) -> None:
    """Fork a slot that speaks through `fds`: one socket for jobs, one for the slot itself."""
    ask_read, ask_write = os.pipe()
    answer_read, answer_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ask_read)
            os.close(answer_write)
            control.close()
            flags = system.NEW_USER | system.NEW_MOUNT | system.NEW_PID
            flags |= system.NEW_IPC | system.NEW_UTS
            system.unshare(flags if settings["network"] else flags | system.NEW_NET)
            os.write(ask_write, b"1")
            os.read(answer_read, 1)
            os.close(ask_write)
            os.close(answer_read)
            if os.fork() == 0:
                slot.main(settings, *fds)
        except BaseException as error:  # noqa: BLE001
            # A fork reports and ends, it never unwinds.
            os.write(fds[1], b"E" + f"{type(error).__name__}: {error}".encode()[:2000])
        os._exit(0)
    os.close(ask_write)
    os.close(answer_read)
    if os.read(ask_read, 1):
        ids = f"0 0 1\n{_NOBODY} {_NOBODY} 1" if settings["as_root"] else f"{_NOBODY} 0 1"
        for kind in ("uid", "gid"):
            root.write(f"/proc/{pid}/{kind}_map", ids)
        os.write(answer_write, b"1")
    os.close(ask_read)
    os.close(answer_write)
    os.waitpid(pid, 0)


def _forget_paths() -> None:
    """Leave `sys` as a fresh interpreter has it that runs a program file."""
    sys.argv = [""]
    sys.orig_argv = [sys.executable]
    if sys.path and sys.path[0] == "":
        del sys.path[0]


def _size_mib(field: int) -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[field]) * os.sysconf("SC_PAGE_SIZE") >> 20
