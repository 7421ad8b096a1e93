"""`LocalSandbox`: programs in processes of this machine, confined by what its kernel offers.

Covers, in mode `namespaces` (see docs/sandbox.md for what is active where): runaway time, memory,
output, disk and processes; daemons and grandchildren; the network; the host's files, processes,
environment and descriptors; further user namespaces. Does not cover: bugs of the kernel (no system
call filter yet), memory held in System V segments or pipes, side channels of time and load.
In mode `plain`, where namespaces are forbidden, files and network of the host stay reachable.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.job import Job, JobStatus, Limits, Result, check_language
from verigym.sandbox.old_languages import PATH, Language, find_languages
from verigym.sandbox.remove import remove_tree
from verigym.sandbox.watch import COMPILE_S, SETUP_S, Ending, Observed, watch

MODES = ("namespaces", "plain")

_LAUNCHER = str(Path(__file__).with_name("launch.py").resolve())
# What a program sees of the host's files, read-only, beside its interpreter.
_VISIBLE = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/alternatives",
    "/etc/ld.so.cache",
)
_COMPILE_LIMITS = Limits(
    cpu_s=COMPILE_S, memory_mib=2048, processes=16, open_files=256, disk_mib=64
)
_PROBE = Job(source="print('ready')", limits=Limits(wall_s=20.0))


class LocalSandbox:
    """Runs each job in fresh processes of this machine; the `Sandbox` protocol.

    `max_jobs` (default: the processor count, at least 2) bounds how many run at once; further
    callers wait. `mode` None takes the strongest of `MODES` that works here, found once by running
    a program. Raises SandboxError where none works.
    """

    def __init__(self, *, max_jobs: int | None = None, mode: str | None = None) -> None:
        if max_jobs is not None and max_jobs < 1:
            raise RequestError(f"max_jobs must be at least 1, got {max_jobs}")
        if mode not in (None, *MODES):
            raise RequestError(f"mode must be one of {', '.join(MODES)} or None, got {mode!r}")
        self.max_jobs = max_jobs or max(2, os.cpu_count() or 1)
        self._slots = threading.BoundedSemaphore(self.max_jobs)
        self.mode = ""
        self._languages: dict[str, Language] = {}
        self._find_mode(MODES if mode is None else (mode,))
        self.languages = frozenset(self._languages)

    def run(self, job: Job) -> Result:
        """Run `job` to its end or its limits; blocks, is safe to call from many threads."""
        check_language(job, self)
        language = self._languages[job.language]
        files = _files(job, language)
        with self._slots:
            return self._run(job, language, files)

    def describe(self) -> dict[str, Any]:
        """What is active here, for people: mode, languages and how many jobs at once."""
        strong = self.mode == "namespaces"
        return {
            "mode": self.mode,
            "languages": sorted(self.languages),
            "max_jobs": self.max_jobs,
            "network": "none" if strong else "the host's",
            "files": "read-only system folders" if strong else "the host's, by permission",
            "user": 65534 if strong or os.getuid() == 0 else os.getuid(),
        }

    def _find_mode(self, modes: tuple[str, ...]) -> None:
        pythons = [os.path.realpath(getattr(sys, "_base_executable", sys.executable))]
        # An interpreter below /root cannot be started by user 65534 without a mount namespace.
        pythons += ["/usr/local/bin/python3", "/usr/bin/python3"]
        failures = []
        for mode in modes:
            for python in pythons:
                if not os.path.exists(python):
                    continue
                self.mode = mode
                self._visible = (*_VISIBLE, *_prefixes(python))
                self._languages = find_languages(python)
                language = self._languages["python"]
                result = self._run(_PROBE, language, _files(_PROBE, language))
                if result.status is JobStatus.OK and result.stdout == b"ready\n":
                    return
                stderr = result.stderr[-200:].decode("utf-8", "replace").strip()
                failures.append(f"{mode} with {python}: {result.detail or stderr or result.status}")
        raise SandboxError(f"no way to run programs works here: {'; '.join(failures)}")

    def _run(self, job: Job, language: Language, files: list[tuple[str, bytes]]) -> Result:
        try:
            with self._folder() as folder:
                return _result(job, self._observe(job, language, files, folder), self.mode)
        except OSError as error:  # no memory, processes or descriptors left on the host
            return Result(status=JobStatus.SANDBOX_ERROR, detail=f"{type(error).__name__}: {error}")

    @contextmanager
    def _folder(self) -> Iterator[str]:
        """The job's private folder, as the job sees it."""
        if self.mode == "namespaces":
            yield "/tmp"  # a tmpfs that goes with the mount namespace
            return
        folder = tempfile.mkdtemp(prefix="verigym-job-")
        try:
            yield folder
        finally:
            remove_tree(Path(folder))

    def _observe(
        self, job: Job, language: Language, files: list[tuple[str, bytes]], folder: str
    ) -> Observed:
        order = {
            "mode": self.mode,
            "parent": os.getpid(),
            "drop": self.mode == "plain" and os.getuid() == 0,
            "folder": folder,
            "visible": self._visible,
            "files": files,
            "processes": job.limits.processes,
            "disk_bytes": job.limits.disk_mib << 20,
            "env": {**_environment(folder), **job.env},
            "compile": list(language.compile),
            "run": [*language.run, *job.args],
            "compile_limits": _rlimits(_COMPILE_LIMITS, self.mode),
            "run_limits": _rlimits(job.limits, self.mode),
        }
        report_read, report_write = os.pipe()
        with (
            os.fdopen(report_read, "rb", buffering=0) as report,
            os.fdopen(report_write, "wb", buffering=0) as report_end,
            os.fdopen(_sealed("job", marshal.dumps(order)), "rb") as order_file,
            os.fdopen(_sealed("stdin", job.stdin), "rb") as stdin,
            subprocess.Popen(
                [
                    os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
                    "-I",
                    "-S",
                    _LAUNCHER,
                    str(order_file.fileno()),
                    str(report_end.fileno()),
                ],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(order_file.fileno(), report_end.fileno()),
                start_new_session=True,
                cwd="/",
                env={"PATH": PATH, "LANG": "C.UTF-8"},
            ) as process,
        ):
            report_end.close()
            return watch(process, report, job.limits, compiles=bool(language.compile))


def _files(job: Job, language: Language) -> list[tuple[str, bytes]]:
    """Everything to put into the job's folder. RequestError where it does not fit."""
    if any(PurePosixPath(name) == PurePosixPath(language.file) for name in job.files):
        raise RequestError(f"file {language.file!r} is the program itself; use another name")

    source = job.source_bytes
    files = [(language.file, source), *((name, bytes(data)) for name, data in job.files.items())]
    size = sum(len(data) + 4096 for _, data in files)
    if size > job.limits.disk_mib << 20:
        raise RequestError(
            f"the job's files take {size >> 10} KiB, more than disk_mib {job.limits.disk_mib}"
        )
    return files


def _prefixes(python: str) -> tuple[str, ...]:
    """Folders that `python` needs beside the system's."""
    if python.startswith("/usr/"):
        return ()
    return tuple({str(Path(python).parent.parent), *map(os.path.realpath, (sys.base_prefix,))})


def _environment(folder: str) -> dict[str, str]:
    return {
        "PATH": PATH,
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        # The order of a set of strings would differ from run to run, and so could the verdict.
        "PYTHONHASHSEED": "0",
        # One thread a core would pass the process limit on a large machine.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _rlimits(limits: Limits, mode: str) -> list[tuple[int, int, int]]:
    cpu_s = max(1, int(limits.cpu_s + 0.999))
    memory = limits.memory_mib << 20
    disk = limits.disk_mib << 20
    rlimits = [
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),
        (resource.RLIMIT_FSIZE, disk, disk),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        # 1, not 0: the kernel starts a core_pattern program at 0, and gives up at 1; see core(5).
        (resource.RLIMIT_CORE, 1, 1),
        (resource.RLIMIT_MEMLOCK, 0, 0),
    ]
    # The user namespace counts for this job alone; its init is one of the counted. In mode `plain`
    # all processes of the user count, so the launcher adds those that it finds.
    if mode == "namespaces":
        rlimits.append((resource.RLIMIT_NPROC, limits.processes + 1, limits.processes + 1))
    return [(what, _at_most(what, soft), _at_most(what, hard)) for what, soft, hard in rlimits]


def _at_most(what: int, wanted: int) -> int:
    """`wanted`, or the hard limit of this process where that is lower."""
    _, hard = resource.getrlimit(what)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _sealed(name: str, data: bytes) -> int:
    """A descriptor of an anonymous file of `data` that nobody can change."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def _result(job: Job, seen: Observed, mode: str) -> Result:
    status, detail = _judge(job, seen, mode)
    ending = seen.exit or seen.compile_failure
    code = os.waitstatus_to_exitcode(ending.status) if ending else None
    return Result(
        status=status,
        exit_code=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        stdout=bytes(seen.stdout.data),
        stderr=bytes(seen.stderr.data),
        stdout_truncated=seen.stdout.over,
        stderr_truncated=seen.stderr.over,
        wall_s=ending.wall_s if ending else seen.run_s,
        cpu_s=ending.cpu_s if ending else 0.0,
        memory_mib=ending.peak_kib / 1024 if ending else 0.0,
        detail=detail,
    )


def _judge(job: Job, seen: Observed, mode: str) -> tuple[JobStatus, str]:
    """Status and detail from what was seen. Only what happened before the program ran, or to the
    launcher, which the program cannot reach, is the machine's fault."""
    stderr = bytes(seen.stderr.data)
    if seen.error:
        return JobStatus.SANDBOX_ERROR, seen.error
    if seen.killed is JobStatus.SANDBOX_ERROR:
        return JobStatus.SANDBOX_ERROR, f"set-up was not done after {SETUP_S:g} s"
    if seen.phase == "setup":
        tail = stderr[-500:].decode("utf-8", "replace").strip()
        return JobStatus.SANDBOX_ERROR, f"the launcher failed: {tail or 'it was killed'}"
    if seen.compile_failure or seen.phase == "compile":
        tail = stderr[-2000:].decode("utf-8", "replace")
        return JobStatus.COMPILE_ERROR, tail or "the compiler passed its limits"
    if seen.stdout.over or seen.stderr.over:
        return JobStatus.OUTPUT_LIMIT, ""
    if seen.exit is None:
        if seen.killed:
            return seen.killed, ""
        if seen.died or mode == "plain":
            return JobStatus.SIGNAL, "the program brought down its own supervisor"
        return JobStatus.SANDBOX_ERROR, "the launcher was killed from outside"
    return _judge_exit(job, seen.exit, stderr), ""


def _judge_exit(job: Job, ending: Ending, stderr: bytes) -> JobStatus:
    code = os.waitstatus_to_exitcode(ending.status)
    if ending.cpu_s > job.limits.cpu_s or code == -signal.SIGXCPU:
        return JobStatus.TIME_LIMIT
    if ending.wall_s > job.limits.wall_s:
        return JobStatus.TIME_LIMIT
    if code == 0:
        return JobStatus.OK
    if code == -signal.SIGXFSZ or ending.full:
        return JobStatus.DISK_LIMIT
    if code < 0:
        return JobStatus.SIGNAL
    if job.language == "python":
        # Python turns the kernel's refusal into an exception. A program can print these lines too,
        # and gains nothing: each status here is its own fault.
        last = stderr.rstrip().rpartition(b"\n")[2]
        if last.startswith(b"MemoryError"):
            return JobStatus.MEMORY_LIMIT
        if last.startswith((b"OSError: [Errno 27]", b"OSError: [Errno 28]")):
            return JobStatus.DISK_LIMIT
    return JobStatus.NONZERO_EXIT


_shared: LocalSandbox | None = None
_shared_lock = threading.Lock()


def default_sandbox() -> LocalSandbox:
    """The one instance that this process shares, made at the first call."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = LocalSandbox()
        return _shared


def _forget_after_fork() -> None:
    # A fork copies the locks as they stand, perhaps held by threads that it does not have.
    global _shared, _shared_lock
    _shared = None
    _shared_lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
