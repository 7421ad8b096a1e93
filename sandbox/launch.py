"""Runs one job: confines itself, then starts the program and reports how it ended.

`LocalSandbox` starts this file as a script (`python -I -S launch.py JOB_FD REPORT_FD`), one process
a job; nothing imports it, and it imports nothing of Verigym. The first descriptor holds the job
(marshalled by the sandbox, so from a trusted writer), the second takes the report, one line an event:

    ready               set-up is done, the first command starts now
    compiled            a compiler ended well, the program starts now
    exit END            the program ended
    compile END         a compiler failed
    died                the init of the job was killed, which only the job itself can have caused
    error TEXT          the machine failed before the program ran
    note TEXT           something weaker than wished for

END is: wait status, wall seconds, CPU seconds, peak KiB, 1 if the private folder is full.

Two modes. In `namespaces` this process (the launcher) makes user, pid, net, ipc, uts and mount
namespaces; its child is init of the pid namespace, builds a read-only root with a small tmpfs as
`/tmp`, starts the program as uid 65534, and its death takes every process of the job along. In
`plain` the launcher is a child subreaper that kills every descendant when the program ends.
On SIGTERM, and on the death of its parent, the launcher ends the job.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import select
import signal
import sys
import time
from types import FrameType
from typing import Any, NoReturn

NOBODY = 65534

# <linux/sched.h>, <sys/mount.h>, <linux/prctl.h>
_NEW_ROOTLESS = 0x10000000  # CLONE_NEWUSER
_NEW_OTHERS = 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000  # ns pid net ipc uts
_MS_NOSUID, _MS_NODEV, _MS_REMOUNT, _MS_RDONLY = 2, 4, 32, 1
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_MNT_DETACH = 2
_SYS_MOUNT_SETATTR = 442  # the same number on every architecture
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 1, 4, 38, 36

_libc = ctypes.CDLL(None, use_errno=True)

_report_fd = -1
_stopping = False
_child = 0


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _prctl(option: int, value: int) -> None:
    # Varargs of prctl are unsigned long; ctypes would pass int and leave the upper half undefined.
    arguments = (ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    _checked(_libc.prctl(option, *arguments), f"prctl {option}")


def _unshare(flags: int) -> None:
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    _checked(
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            ctypes.c_ulong(flags),
            data.encode() if data else None,
        ),
        f"mount {target}",
    )


def _report(text: str) -> None:
    line = " ".join(text.split())[:1000]
    os.write(_report_fd, line.encode("utf-8", "replace") + b"\n")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _set_kernel(path: str, text: str) -> None:
    """Set a kernel parameter of this process's own namespaces, where the kernel lets it."""
    try:
        _write(path, text)
    except OSError as error:
        _report(f"note {path} cannot be set: {error}")


def _map_ids(outer_uid: int, outer_gid: int) -> None:
    """Make this process uid and gid 65534 in its own new user namespace."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{NOBODY} {outer_uid} 1")
    _write("/proc/self/gid_map", f"{NOBODY} {outer_gid} 1")


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def _bind(source: str, root: str) -> None:
    """Show `source` of the host at the same place below `root`, read-only, without set-uid."""
    target = root + source
    if os.path.islink(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.readlink(source), target)
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif os.path.exists(source):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _write(target, "")
    else:
        return
    _mount(source, target, None, _MS_BIND | _MS_REC)
    # mount_setattr adds to the flags, where a remount would have to repeat those that are locked.
    read_only = (ctypes.c_uint64 * 4)(_MS_RDONLY | _MS_NOSUID, 0, 0, 0)
    _checked(
        _libc.syscall(
            ctypes.c_long(_SYS_MOUNT_SETATTR),
            ctypes.c_long(_AT_FDCWD),
            target.encode(),
            ctypes.c_long(_AT_RECURSIVE),
            ctypes.byref(read_only),
            ctypes.c_size_t(ctypes.sizeof(read_only)),
        ),
        f"mount_setattr {target}",
    )


def _build_root(job: dict[str, Any]) -> None:
    """Enter a root of its own: system folders read-only, a fresh `/proc`, a private `/tmp`."""
    root = "/tmp"
    if any(path.startswith("/tmp/") for path in job["visible"]):
        root = "/sys"  # the interpreter lives below /tmp, which must not be covered yet
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    _mount("verigym", root, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=0755,size=1m,nr_inodes=400")
    for path in job["visible"]:
        _bind(path, root)
    for name in ("etc", "proc", "tmp", "dev"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    for name in ("null", "zero", "full", "random", "urandom"):
        _write(f"{root}/dev/{name}", "")
        _mount(f"/dev/{name}", f"{root}/dev/{name}", None, _MS_BIND)
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("shm", "/tmp"),
    ):
        os.symlink(target, f"{root}/dev/{name}")
    _write(f"{root}/etc/passwd", f"nobody:x:{NOBODY}:{NOBODY}:nobody:/tmp:/bin/sh\n")
    _write(f"{root}/etc/group", f"nogroup:x:{NOBODY}:\n")
    _mount("proc", f"{root}/proc", "proc", _MS_NOSUID | _MS_NODEV | 8)
    _mount(
        "job",
        f"{root}/tmp",
        "tmpfs",
        _MS_NOSUID | _MS_NODEV,
        f"mode=0700,uid={NOBODY},gid={NOBODY},size={job['disk_bytes']},nr_inodes=4096",
    )
    # System V segments count in no limit of a process; Python's shared memory is in /dev/shm.
    _set_kernel(f"{root}/proc/sys/kernel/shmall", "0")
    os.chdir(root)
    _checked(_libc.pivot_root(b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _MNT_DETACH), "umount of the old root")
    os.chdir("/")
    _mount("none", "/", None, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
    os.chdir("/tmp")


def _put_files(job: dict[str, Any]) -> None:
    os.umask(0o077)
    for name, data in job["files"]:
        folder = os.path.dirname(name)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(name, "wb") as file:
            file.write(data)


def _start(command: list[str], job: dict[str, Any], limits: list[tuple[int, int, int]]) -> int:
    """Fork and exec `command` under `limits`; the child's pid."""
    pid = os.fork()
    if pid:
        return pid
    try:
        # All signals as a fresh process has them; Python ignores SIGPIPE and SIGXFSZ.
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        if job["drop"]:
            _become_nobody()
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        os.setsid()
        for what, soft, hard in limits:
            resource.setrlimit(what, (soft, hard))
        os.execve(command[0], command, job["env"])
    except BaseException as error:  # noqa: BLE001
        # Between fork and exec nothing may unwind into the parent's code.
        _report(f"error cannot start {command[0]}: {error}")
    os._exit(127)


def _run_command(
    event: str, command: list[str], job: dict[str, Any], limits: list[tuple[int, int, int]]
) -> int:
    """Run `command` to its end; the wait status. Reports END where it failed or is the program."""
    pid = _start(command, job, limits)
    try:
        started = time.monotonic()
        done = 0
        while done != pid:  # orphans are reaped on the way
            done, status, usage = os.wait4(-1, 0)
        wall_s = time.monotonic() - started
        if status or event == "exit":
            disk = os.statvfs(".")
            full = disk.f_bavail * disk.f_bsize < 65536 or disk.f_favail < 1
            full = full and job["mode"] == "namespaces"  # else it is the host's disk
            cpu_s = usage.ru_utime + usage.ru_stime
            _report(f"{event} {status} {wall_s:.6f} {cpu_s:.6f} {usage.ru_maxrss} {int(full)}")
    except BaseException:  # noqa: BLE001
        # The program runs already, and may have starved this process by prlimit: an `error` here
        # would let it pass off its own failure as the machine's. The launcher reports `died`.
        os._exit(1)
    return status


def _run_commands(job: dict[str, Any]) -> None:
    _report("ready")
    if job["compile"]:
        if _run_command("compile", job["compile"], job, job["compile_limits"]):
            return
        _report("compiled")
    _run_command("exit", job["run"], job, job["run_limits"])


def _be_init(job: dict[str, Any], alive_fd: int) -> NoReturn:
    """Life of the first process of the pid namespace."""
    try:
        # A handler, even Python's own for SIGINT, would let the program signal its init.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _build_root(job)
        if os.getuid() == 0:
            _become_nobody()
            # Changing uid made /proc/self root's; the maps below need it back.
            _prctl(_PR_SET_DUMPABLE, 1)
            # A user namespace of its own counts RLIMIT_NPROC for this job alone.
            _unshare(_NEW_ROOTLESS)
            _map_ids(NOBODY, NOBODY)
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # The launcher may have died before that call; then its end of the pipe is closed.
        poll = select.poll()
        poll.register(alive_fd, 0)
        if poll.poll(0):
            os._exit(1)
        os.close(alive_fd)
        # No further user namespaces: in one, the program would have capabilities again.
        _set_kernel("/proc/sys/user/max_user_namespaces", "0")
        _put_files(job)
        _run_commands(job)
    except BaseException as error:  # noqa: BLE001
        # The process is a fork in the middle of a script: report and end, never unwind.
        _report(f"error {type(error).__name__}: {error}")
        os._exit(1)
    os._exit(0)


def _on_term(_number: int, _frame: FrameType | None) -> None:
    global _stopping
    _stopping = True
    if _child:
        os.kill(_child, signal.SIGKILL)


def _run_in_namespaces(job: dict[str, Any]) -> None:
    global _child
    uid, gid = os.getuid(), os.getgid()
    if uid == 0:
        for fd in (1, 2):
            os.fchown(fd, NOBODY, NOBODY)  # so that the program may open /dev/stdout
        _unshare(_NEW_OTHERS)
    else:
        _unshare(_NEW_ROOTLESS | _NEW_OTHERS)
        _map_ids(uid, gid)
    alive_fd, held_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(held_fd)
        _be_init(job, alive_fd)
    _child = pid
    os.close(alive_fd)
    if _stopping:
        os.kill(pid, signal.SIGKILL)
    # Returns only when every process of the pid namespace is gone. Until it is reaped the pid cannot
    # be another's, so that `_on_term` may signal it.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    _child = 0
    if os.waitpid(pid, 0)[1] and not _stopping:
        _report("died")


def _descendants() -> list[int]:
    """Pids of all processes below this one, read from /proc."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it has ended since
            children.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    todo = [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _tasks_of(uid: int) -> int:
    """How many tasks user `uid` has on this machine now."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{name}/task"))
            except OSError:
                continue  # it has ended since
    return count


def _sweep() -> None:
    """Kill and reap every descendant; orphans come to this process, the subreaper."""
    while True:
        for pid in _descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _run_plain(job: dict[str, Any]) -> None:
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    os.chdir(job["folder"])
    _put_files(job)
    if job["drop"]:
        for fd in (1, 2):
            os.fchown(fd, NOBODY, NOBODY)
        for folder, _, names in os.walk("."):
            os.chown(folder, NOBODY, NOBODY)
            for name in names:
                os.chown(os.path.join(folder, name), NOBODY, NOBODY)

    # RLIMIT_NPROC counts all tasks of the user on this machine; allow so many more.
    most = job["processes"] + _tasks_of(NOBODY if job["drop"] else os.getuid())
    job["run_limits"].append((resource.RLIMIT_NPROC, most, most))

    def stop(_number: int, _frame: FrameType | None) -> None:
        # First of all: a second signal in the midst of an import would find half a module.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        import pathlib  # both are dear, and needed here alone
        import runpy

        _sweep()
        # The caller may be dead and so cannot remove the folder. Whether it is cannot be asked: while
        # its other threads die, getppid still names it. Loaded by path: with -I and -S there is no
        # package to import it from.
        path = os.path.join(os.path.dirname(__file__), "remove.py")
        runpy.run_path(path)["remove_tree"](pathlib.Path(job["folder"]))
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    if _stopping:
        stop(signal.SIGTERM, None)
    _run_commands(job)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _sweep()


def main(job_fd: int, report_fd: int) -> None:
    """Run the job that `job_fd` holds and report on `report_fd`."""
    global _report_fd
    _report_fd = report_fd
    os.set_inheritable(report_fd, False)
    with os.fdopen(job_fd, "rb") as file:
        job = marshal.loads(file.read())
    # What the caller's process may have changed and a child inherits.
    os.umask(0o022)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, _on_term)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if job["mode"] == "namespaces" else signal.SIGTERM)
    if os.getppid() != job["parent"]:
        os._exit(1)
    try:
        if job["mode"] == "namespaces":
            _run_in_namespaces(job)
        else:
            _run_plain(job)
    except OSError as error:
        _report(f"error {type(error).__name__}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
