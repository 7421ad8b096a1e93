"""First process of a job's container: runs one program, keeps its limits, sends back what it left.

`DockerSandbox` gives this file's text to the image's Python (`python3 -I -S -X utf8 -c TEXT`) as process 1 of a
container that runs one job; nothing imports it and it imports nothing of Verigym. It speaks frames: one
byte for the kind, four for the length, a payload of at most `_CHUNK` bytes. On standard input:

    J JSON   argv, env, filter, stream, address_space_mib, fetch and the limits, once
    F JSON   a file of the job begins: name, executable;   D  its data
    G        start;   I  standard input of the program;   C  its end

On standard output:

    H JSON   ready, on which machine;   S JSON  the program runs, and whether its filter does
    O, E     its standard output, its standard error
    K        an interrupt was passed on
    N JSON   a file comes back: name, size;   D  its data;   R JSON  one does not: name, why
    X JSON   how it ended, last of all;   Q  text: the machine failed before the program ran

Two signals reach it from the engine: SIGINT goes on to the program, SIGTERM ends the job.

Covers: as process 1 it cannot be signalled by the program beyond these two; it is not dumpable, so the
program, the same user, cannot trace it, read its memory or open its descriptors; the filter, made by
the owner, keeps the program from setting other processes' limits (`prlimit`), by which it could be
killed, and from all else that no program needs. The program never holds the engine's pipes, so it cannot speak in this file's name. Files are read when every other
process is dead. If standard input ends, the owner is gone, and so is everything here. Does not cover:
a machine for which the owner has no filter; there, what kills this process counts as the program's.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fnmatch
import json
import os
import resource
import select
import signal
import stat
import struct
import time
from types import FrameType
from typing import Any, NoReturn

_FOLDER = "/tmp"
_CHUNK = 1 << 16
_WATCH_S = 0.05
_REAP_S = 10.0
_MAX_NAME_BYTES = 3072

# <linux/prctl.h>
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38
# <linux/landlock.h>, as in verigym/sandbox/local/landlock.py; system calls 444 to 446 everywhere.
_LANDLOCK_WRITING, _LANDLOCK_REFER, _LANDLOCK_WRITE_FILE, _LANDLOCK_TRUNCATE = (
    0x1FF2,
    1 << 13,
    1 << 1,
    1 << 14,
)
_WRITABLE = (_FOLDER, "/dev/shm", "/dev/null", "/dev/zero", "/dev/full")

_libc = ctypes.CDLL(None, use_errno=True)
_signalled: set[int] = set()


def _send(kind: bytes, payload: bytes | dict[str, Any] = b"") -> None:
    """Write one frame, waiting; for the times when no program runs."""
    view = memoryview(_frame(kind, payload))
    while view:
        try:
            view = view[os.write(1, view) :]
        except BlockingIOError:
            select.select([], [1], [], 1.0)


def _frame(kind: bytes, payload: bytes | dict[str, Any] = b"") -> bytes:
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return struct.pack(">cL", kind, len(data)) + data


def _read_exactly(size: int) -> bytes:
    parts = []
    while size:
        part = os.read(0, size)
        if not part:
            os._exit(0)  # the owner is gone
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _receive() -> tuple[bytes, bytes]:
    kind, size = struct.unpack(">cL", _read_exactly(5))
    return kind, _read_exactly(size)


def _fail(text: str) -> NoReturn:
    _send(b"Q", text[:1000].encode("utf-8", "replace"))
    os._exit(1)


def _prctl(option: int, *values: int) -> bool:
    wide = [ctypes.c_ulong(value) for value in (*values, *(0,) * (4 - len(values)))]
    return bool(_libc.prctl(ctypes.c_int(option), *wide) == 0)


def _install_filter(program: bytes) -> bool:
    """Put this process under a system call filter, for good; True if done."""
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog of <linux/filter.h>
    header = struct.pack("@HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    place = ctypes.create_string_buffer(header, len(header))
    return bool(program) and _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(place))


def _keep_writes_in() -> None:
    """Let this process write to its folder alone, and signal nothing outside, for good; where the
    kernel has Landlock. The root is read-only anyway: this closes what is open to all in /proc."""
    version = _libc.syscall(444, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return
    writing = _LANDLOCK_WRITING
    writing |= (version >= 2 and _LANDLOCK_REFER) | (version >= 3 and _LANDLOCK_TRUNCATE)
    attributes = struct.pack("=QQQ", writing, 0, 3)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _libc.syscall(444, attributes, ctypes.c_size_t(size), 0)
    for path in _WRITABLE:
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(path, os.O_PATH)
            file = _LANDLOCK_WRITE_FILE | _LANDLOCK_TRUNCATE
            allowed = writing if os.path.isdir(path) else writing & file
            _libc.syscall(445, rules, 1, struct.pack("=Qi", allowed, fd), 0)
            os.close(fd)
    _libc.syscall(446, rules, 0)
    os.close(rules)


def _take_job() -> dict[str, Any]:
    """Wait for the job and write its files; the job."""
    job: dict[str, Any] = {}
    file = -1
    os.chdir(_FOLDER)
    while True:
        kind, payload = _receive()
        if kind == b"J":
            job = json.loads(payload)
        elif kind == b"F":
            order = json.loads(payload)
            if file >= 0:
                os.close(file)
            if folder := os.path.dirname(order["name"]):
                os.makedirs(folder, exist_ok=True)
            mode = 0o700 if order["executable"] else 0o600
            file = os.open(order["name"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        elif kind == b"D":
            view = memoryview(payload)
            while view:
                view = view[os.write(file, view) :]
        elif kind == b"G":
            if file >= 0:
                os.close(file)
            return job
        else:
            _fail(f"unknown frame {kind!r}")


def _limit(what: int, value: int) -> None:
    """Set soft and hard limit, no higher than what the engine allows."""
    most = resource.getrlimit(what)[1]
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(what, (value, value))


def _be_program(job: dict[str, Any], streams: tuple[int, int, int], said: int) -> NoReturn:
    """In the child: confine this process and become the program."""
    try:
        os.setsid()
        for number, fd in enumerate(streams):
            os.dup2(fd, number)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        _prctl(_PR_SET_DUMPABLE, 1)  # else the next file belongs to root
        # Some sandboxed kernels have no such file.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")  # before its keeper
        limits = job["limits"]
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_FSIZE, limits["disk_mib"] << 20)
        _limit(resource.RLIMIT_CPU, int(limits["cpu_s"]) + 2)
        if job["address_space_mib"] is not None:
            _limit(resource.RLIMIT_AS, job["address_space_mib"] << 20)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _keep_writes_in()
        _limit(
            resource.RLIMIT_NOFILE, limits["open_files"]
        )  # last: it may be less than is open now
        os.write(said, b"f" if _install_filter(bytes.fromhex(job["filter"])) else b"-")
        os.execvpe(job["argv"][0], job["argv"], job["env"])
    except OSError as error:
        os.write(said, b"!" + str(error.errno).encode())
    finally:
        os._exit(127)


def _start(job: dict[str, Any]) -> tuple[int, int, int, int]:
    """Start the program; its pid, and our ends of its three streams."""
    pairs = os.pipe(), os.pipe(), os.pipe()
    said_r, said_w = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_program(job, (pairs[0][0], pairs[1][1], pairs[2][1]), said_w)
    for fd in (pairs[0][0], pairs[1][1], pairs[2][1], said_w):
        os.close(fd)
    said = b""
    while part := os.read(said_r, 64):
        said += part
    os.close(said_r)
    filtered, _, failure = said.partition(b"!")
    if not filtered:
        _fail(f"the program's process could not be set up: {failure.decode() or 'it was killed'}")
    if failure:
        # As a shell has it: the program is wrong, not the machine.
        number = int(failure)
        text = f"{job['argv'][0]}: {os.strerror(number)}\n".encode("utf-8", "replace")
        _send(b"S", {"filtered": True})
        _send(b"E", text)
        code = 127 if number == errno.ENOENT else 126
        report = {**_figures(0), "wall_s": 0.0, "reason": "exit", "status": code << 8, "cut": []}
        _send(b"X", report)
        os._exit(0)
    _send(b"S", {"filtered": filtered == b"f"})
    return pid, pairs[0][1], pairs[1][0], pairs[2][0]


def _pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _watch(page: int, tick: int) -> tuple[float, dict[str, int]]:
    """CPU seconds of the whole job so far, and bytes of memory that each process holds now."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = usage.ru_utime + usage.ru_stime
    resident = {}
    for pid in _pids():
        try:
            fields = _stat(f"/proc/{pid}/stat")
            cpu_s += sum(map(int, fields[11:15])) / tick
            if fields[0] == b"Z" and int(fields[17]) > 1:
                # The first thread has ended, and shows no memory; the others hold it.
                last = os.listdir(f"/proc/{pid}/task")[-1]
                fields = _stat(f"/proc/{pid}/task/{last}/stat")
            resident[pid] = int(fields[21]) * page
        except (OSError, IndexError):
            continue  # it has ended since
    return cpu_s, resident


def _stat(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return file.read().rpartition(b")")[2].split()


def _proportional_bytes(resident: dict[str, int]) -> int:
    """Memory of all processes with shared pages counted once, as far as the kernel says."""
    total = 0
    for pid, most in resident.items():
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
                total += next(
                    (int(line.split()[1]) << 10 for line in file if line[:4] == b"Pss:"), most
                )
        except FileNotFoundError:
            continue  # it has ended, or this kernel has no such file: the engine's limit stands
        except OSError:
            total += most  # it hides, or its first thread has ended
    return total


def _kill_all() -> None:
    """Kill and reap every other process. One that cannot be reaped goes with this one."""
    deadline = time.monotonic() + _REAP_S
    while time.monotonic() < deadline:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)
        except ChildProcessError:
            return


def _figures(peak_bytes: int) -> dict[str, Any]:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    space = os.statvfs(_FOLDER)
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "memory_mib": max(peak_bytes, usage.ru_maxrss << 10) / (1 << 20),
        "full": space.f_bavail * space.f_bsize < 65536 or space.f_favail < 1,
    }


class _Run:
    """The program's streams and what passes between them and the owner, without ever blocking."""

    def __init__(self, job: dict[str, Any], stdin: int, stdout: int, stderr: int) -> None:
        for fd in (0, 1, stdin, stdout, stderr):
            os.set_blocking(fd, False)
        self.stdin: int | None = stdin
        self.outputs = {stdout: b"O", stderr: b"E"}
        self.most = None if job["stream"] else job["limits"]["output_bytes"]
        self.counts = {b"O": 0, b"E": 0}
        self.inbox = bytearray()  # frames of the owner, not yet whole
        self.todo = bytearray()  # for the program
        self.outbox = bytearray()  # for the owner
        self.ending = False  # no more input after `todo`
        self.cut: set[bytes] = set()

    def turn(self, wake: int, timeout_s: float) -> None:
        """Move what can be moved, waiting for the first of it."""
        reads = [wake]
        writes = [1] if self.outbox else []
        if len(self.todo) < _CHUNK:
            reads.append(0)
        if len(self.outbox) < 4 * _CHUNK:
            reads += self.outputs
        if self.stdin is not None and self.todo:
            writes.append(self.stdin)
        readable, writable, _ = select.select(reads, writes, [], timeout_s)
        if wake in readable:
            os.read(wake, 4096)
        if 1 in writable:
            del self.outbox[: os.write(1, self.outbox[:_CHUNK])]
        if 0 in readable:
            self._take_input()
        for fd in list(self.outputs):
            if fd in readable:
                self.pass_output(fd)
        if self.stdin is not None and (self.stdin in writable or (self.ending and not self.todo)):
            self._feed()

    def _take_input(self) -> None:
        data = os.read(0, _CHUNK)
        if not data:
            _kill_all()
            os._exit(0)  # the owner is gone
        self.inbox += data
        while len(self.inbox) >= 5:
            kind, size = struct.unpack(">cL", self.inbox[:5])
            if len(self.inbox) < 5 + size:
                break
            if kind == b"I":
                self.todo += self.inbox[5 : 5 + size]
            else:
                self.ending = True
            del self.inbox[: 5 + size]

    def _feed(self) -> None:
        assert self.stdin is not None
        try:
            if self.todo:
                del self.todo[: os.write(self.stdin, self.todo[:_CHUNK])]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.todo.clear()
            self.ending = True
        if self.ending and not self.todo:
            os.close(self.stdin)
            self.stdin = None

    def pass_output(self, fd: int) -> bool:
        """Pass on what the program wrote; False at its end."""
        kind = self.outputs[fd]
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            del self.outputs[fd]
            return False
        if self.most is not None:
            room = self.most - self.counts[kind]
            if len(data) > room:
                self.cut.add(kind)
            data = data[:room]
        self.counts[kind] += len(data)
        if data:
            self.outbox += _frame(kind, data)
        return True


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """Run the program to its end or its limits; then nothing of it runs any more. The report."""
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    wake_r, wake_w = os.pipe()
    for fd in (wake_r, wake_w):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, _note)
    signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
    started = time.monotonic()
    pid, stdin, stdout, stderr = _start(job)
    run = _Run(job, stdin, stdout, stderr)
    limits = job["limits"]
    peak = over = 0
    looked = started
    reason, status = "", 0
    while not reason:
        run.turn(wake_r, min(_WATCH_S, max(0.0, started + limits["wall_s"] - time.monotonic())))
        done = 1
        while done > 0:  # orphans come to process 1 and are reaped on the way
            try:
                done, ended = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if done == pid:
                reason, status = "exit", ended
        now = time.monotonic()
        if run.cut:
            reason = "output"
        elif not reason and now - started >= limits["wall_s"]:
            reason = "wall"
        elif not reason and signal.SIGTERM in _signalled:
            reason = "term"
        elif not reason and signal.SIGINT in _signalled:
            _signalled.discard(signal.SIGINT)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGINT)
            run.outbox += _frame(b"K")
        if not reason and now - looked >= _WATCH_S:
            looked = now
            cpu_s, each = _watch(page, tick)
            if cpu_s > limits["cpu_s"]:
                reason = "cpu"
            held = sum(each.values())
            if held > limits["memory_mib"] << 20:
                held = _proportional_bytes(each)
            # Twice, because processes that end while the others are read make shares look larger.
            over = over + 1 if held > limits["memory_mib"] << 20 else 0
            if over > 1:
                reason = "memory"
            peak = max(peak, held)
    wall_s = time.monotonic() - started
    _kill_all()
    for fd in list(run.outputs):
        while run.pass_output(fd):
            pass
    with contextlib.suppress(OSError):
        os.chmod(_FOLDER, 0o700)  # it may have shut itself in
    figures = _figures(peak)
    if reason == "exit" and run.cut:
        reason = "output"
    if reason == "exit" and figures["cpu_s"] > limits["cpu_s"]:
        reason = "cpu"
    os.set_blocking(1, True)
    while run.outbox:
        del run.outbox[: os.write(1, run.outbox)]
    cut = sorted(kind.decode() for kind in run.cut)
    return {**figures, "wall_s": wall_s, "reason": reason, "status": status, "cut": cut}


def _note(number: int, _frame: FrameType | None) -> None:
    _signalled.add(number)


def _refusal(kind: int, size: int, most: int) -> str:
    """Why a file of such a mode and size is not brought back; empty if it is."""
    if stat.S_ISLNK(kind):
        return "a symbolic link"
    if stat.S_ISFIFO(kind):
        return "a named pipe"
    if stat.S_ISSOCK(kind):
        return "a socket"
    if not stat.S_ISREG(kind):
        return "a device"
    if size > most:
        return f"{size} bytes, at most {most} are brought back"
    return ""


def _wanted(patterns: list[str]) -> list[str]:
    """Paths below the folder that match, folders left out; no link is followed."""
    found, todo = [], [""]
    while todo:
        folder = todo.pop()
        try:
            if folder:
                os.chmod(folder, 0o700)
            with os.scandir(folder or ".") as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if len(os.fsencode(path)) > _MAX_NAME_BYTES:
                        continue  # no job can have asked for it by name
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(path)
                    elif any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
                        found.append(path)
        except OSError:
            continue
    return sorted(found)


def _shown(name: bytes) -> str:
    """`name` as text. One that is not UTF-8 is escaped, behind "./" so that no other file has its name."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return "./" + name.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def _send_files(patterns: list[str], limits: dict[str, int]) -> None:
    """Send the files that match; runs when every other process is dead, so nothing moves."""
    left = limits["disk_mib"] << 20
    for path in _wanted(patterns):
        name = _shown(os.fsencode(path))
        size = 0
        try:
            status = os.lstat(path)
            why = _refusal(status.st_mode, status.st_size, limits["output_bytes"])
            if not why and name != path:
                why = "its name is not UTF-8"
            elif not why and status.st_size > left:
                why = f"all files together have more than {limits['disk_mib']} MiB"
            if not why:
                os.chmod(path, 0o600)
                fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                size = status.st_size
        except OSError as error:
            why = f"it cannot be read: {os.strerror(error.errno or 0)}"
        if why:
            _send(b"R", {"name": name, "why": why})
            continue
        left -= size
        _send(b"N", {"name": name, "size": size})
        while data := os.read(fd, _CHUNK):
            _send(b"D", data)
        os.close(fd)


def main() -> None:
    """Run the first process of the container."""
    if os.getpid() != 1:
        _fail(f"the keeper must be process 1 of its container, it is {os.getpid()}")
    signal.signal(signal.SIGINT, _note)
    signal.signal(signal.SIGTERM, _note)
    _prctl(_PR_SET_DUMPABLE, 0)
    _send(b"H", {"machine": os.uname().machine})
    try:
        job = _take_job()
    except OSError as error:
        _fail(f"the job's files cannot be written: {error}")
    except (ValueError, KeyError) as error:
        _fail(f"the job cannot be read: {error!r}")
    path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    own = {"PATH": path, "HOME": _FOLDER, "TMPDIR": _FOLDER, "LANG": "C.UTF-8"}
    job["env"] = {**own, **job["env"]}
    os.environ["PATH"] = path
    report = _run(job)
    _send_files(job["fetch"], job["limits"])
    _send(b"X", report)


if __name__ == "__main__":
    main()
