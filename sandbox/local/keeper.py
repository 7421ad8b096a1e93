"""Builds the sandbox's root on the host's side, starts the warm server in it and waits for its end.

The keeper is the parent of the first process of a pid namespace, which becomes the warm server
(zygote.py): with that process everything below it ends. As root it is root's last process: the server
belongs to a user namespace in which nobody is root of this machine.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import sys
from typing import Any, NoReturn

from verigym.sandbox.local import plain, root, system

# The server and the slots, and the jobs, as the host sees them where it is root who starts them.
SERVER_ID, NOBODY = 65533, 65534


def main(settings: dict[str, Any], control: int, bundle: int) -> NoReturn:
    """Start the server; `control` is its socket, `bundle` the file with its code and settings."""
    uid, gid = os.getuid(), os.getgid()
    as_root = uid == 0
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN if number != signal.SIGTERM else signal.SIG_DFL)
    parents = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in settings["groups"]["parents"]]
    client = os.getppid()
    if not settings["namespaces"]:
        _keep_plain(settings, control, bundle)
    elif as_root:
        system.unshare(system.NEW_MOUNT)
    else:
        system.unshare(system.NEW_USER | system.NEW_MOUNT)
        root.write("/proc/self/setgroups", "deny")
        root.write("/proc/self/uid_map", f"0 {uid} 1")
        root.write("/proc/self/gid_map", f"0 {gid} 1")
    staging = root.build(settings)
    flags = system.NEW_PID | system.NEW_IPC | system.NEW_UTS
    system.unshare(flags if settings["network"] else flags | system.NEW_NET)
    ask_read, ask_write = os.pipe()
    answer_read, answer_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ask_read)
            os.close(answer_write)
            _be_server(settings, staging, control, bundle, ask_write, answer_read)
        except BaseException as error:  # noqa: BLE001
            # A fork in the midst of a script reports and ends, it never unwinds.
            _report(control, f"{type(error).__name__}: {error}")
        os._exit(1)
    os.close(control)
    os.close(ask_write)
    os.close(answer_read)
    if os.read(ask_read, 1):  # the server is in its own user namespace and wants its ids
        for kind in ("uid", "gid"):
            root.write(f"/proc/1/{kind}_map", f"0 {SERVER_ID} 1\n{NOBODY} {NOBODY} 1")
        os.write(answer_write, b"1")
    os.waitpid(pid, 0)
    if os.getppid() != client:
        _remove_groups(parents, settings["groups"]["prefix"])
    os._exit(0)


def _remove_groups(parents: list[int], prefix: str) -> None:
    """Remove the empty control groups that a client left which was killed."""
    for parent in parents:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=parent)
        for name in os.listdir(folder):
            if name.startswith(prefix):
                with contextlib.suppress(OSError):  # another server's, which runs still
                    os.rmdir(name, dir_fd=folder)


def _keep_plain(settings: dict[str, Any], control: int, bundle: int) -> NoReturn:
    """The same without namespaces: kill what the server leaves behind one by one."""
    system.prctl(system.SET_CHILD_SUBREAPER, 1)
    pid = os.fork()
    if pid == 0:
        try:
            _start_server(settings, control, bundle)
        except BaseException as error:  # noqa: BLE001
            _report(control, f"{type(error).__name__}: {error}")
        os._exit(1)
    os.close(control)
    os.waitpid(pid, 0)
    with contextlib.suppress(ChildProcessError):
        while True:
            plain.kill_all()
            os.waitpid(-1, 0)
    plain.remove_folder(settings["folder"])
    os._exit(0)


def _be_server(
    settings: dict[str, Any], staging: str, control: int, bundle: int, ask: int, answer: int
) -> None:
    system.mount("proc", f"{staging}/proc", "proc", system.NO_SUID | system.NO_DEV | system.NO_EXEC)
    system.enter_root(staging)
    if os.getuid() == 0 and settings["as_root"]:
        os.setgroups([])
        system.unshare(system.NEW_USER | system.NEW_MOUNT)
        os.write(ask, b"1")
        os.read(answer, 1)
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    os.close(ask)
    os.close(answer)
    system.mount("none", "/", None, system.RECURSIVE | system.PRIVATE)
    _start_server(settings, control, _without_paths(bundle))


def _without_paths(bundle: int) -> int:
    """`bundle` again, without what the server need not know: its jobs share its memory."""
    os.lseek(bundle, 0, os.SEEK_SET)
    with os.fdopen(bundle, "rb") as file:
        settings, texts = marshal.loads(file.read())
    known = {name: value for name, value in settings.items() if name not in root.OF_THE_HOST}
    fresh = os.memfd_create("verigym", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(fresh), "wb") as file:
        file.write(marshal.dumps((known, texts)))
    return fresh


def _start_server(settings: dict[str, Any], control: int, bundle: int) -> NoReturn:
    # Set after the change of user, which clears it.
    system.prctl(system.SET_PDEATHSIG, signal.SIGKILL)
    # The server's streams are made once, for all jobs: on pipes, as theirs will be. (Standard error is
    # one already.) Nobody writes or reads these.
    for number, fd in enumerate(os.pipe()):
        os.dup2(fd, number)
    for fd in (control, bundle):
        os.set_inheritable(fd, True)
    os.lseek(bundle, 0, os.SEEK_SET)
    command = [*settings["python"], "-s", "-B", "-X", "utf8", "-c", settings["boot"]]
    os.execve(command[0], [*command, "zygote", str(bundle), str(control)], settings["env"])


def _report(control: int, text: str) -> None:
    os.write(control, b"E" + text.encode("utf-8", "replace")[:2000])


def fail(control: int) -> None:
    """Report the exception in flight as the reason why there is no server."""
    kind, error, _ = sys.exc_info()
    _report(control, f"{kind.__name__ if kind else 'error'}: {error}")
