"""`selfcheck`: every attack on every backend that is here, as root and as an ordinary user.

Each half (a backend, as one kind of user) has a few workers, processes of their own with a sandbox
of their own, so that an attack and the honest job after it meet the same warm server. What a busy
machine may have caused is tried again alone, and only then counts.
"""

from __future__ import annotations

import json
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.selfcheck import host
from verigym.sandbox.selfcheck.attack import Attack, choose, load
from verigym.sandbox.selfcheck.canaries import TOKEN_NAME, Canaries, new_token
from verigym.sandbox.selfcheck.judge import CONTAINED, ESCAPED, UNKNOWN
from verigym.sandbox.selfcheck.ordinary import NOBODY

_READY_S = 90.0
_ATTACK_S = 90.0
_CLOSE_S = 30.0

Report = dict[str, Any]


@dataclass(kw_only=True)
class Half:
    """One backend attacked as one kind of user, and what came of it."""

    backend: str
    as_root: bool
    options: Mapping[str, Any]
    ready: dict[str, Any] = field(default_factory=dict)
    unavailable: str = ""
    left: list[str] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)
    reports: dict[str, Report] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """How people call it."""
        return f"{self.backend} as {'root' if self.as_root else 'an ordinary user'}"


class WorkerGone(Exception):
    """A worker ended, or did not answer in time; the text says which."""


class Worker:
    """A worker process: `ask` it one line at a time, `finish` it, or `stop` it."""

    def __init__(self, half: Half, token: str) -> None:
        self._half = half
        self.folder = tempfile.mkdtemp(prefix=f"verigym-selfcheck-{os.getpid()}-", dir="/tmp")
        ordinary = os.geteuid() == 0 and not half.as_root
        if ordinary:
            os.chown(self.folder, NOBODY, NOBODY)
        module = "ordinary" if ordinary else "worker"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"verigym.sandbox.selfcheck.{module}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, TOKEN_NAME: token, "TMPDIR": self.folder},
            start_new_session=True,  # Ctrl-C is for the one who asked; it ends the workers in order
        )
        half.pids.add(self._process.pid)
        self._pending = bytearray()
        self._complaints = bytearray()

    def start(self) -> dict[str, Any]:
        """Say the plan; the answer is `ready` or `unavailable`. Raises WorkerGone."""
        return self.ask(
            {"backend": self._half.backend, "options": dict(self._half.options)}, _READY_S
        )

    def ask(self, message: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send one line, wait for one line."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except BrokenPipeError as error:
            raise WorkerGone(self._ending()) from error
        return self._receive(timeout_s)

    def finish(self) -> list[str]:
        """Close the sandbox in order; what was left. The process is gone afterwards."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            left = list(self._receive(_CLOSE_S).get("left", ()))
            self._process.wait(_CLOSE_S)
        except (WorkerGone, subprocess.TimeoutExpired) as error:
            left = [f"the supervisor did not end in order: {error}"]
        finally:
            self.stop()
        return left + [f"temporary file {name}" for name in self._remove()]

    def stop(self) -> None:
        """End the process whatever it is doing."""
        for number, wait_s in ((signal.SIGINT, 10.0), (signal.SIGKILL, 10.0)):
            if self._process.poll() is not None:
                break
            self._process.send_signal(number)
            try:
                self._process.wait(wait_s)
            except subprocess.TimeoutExpired:
                continue
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def discard(self) -> None:
        """`stop`, and remove its folder."""
        self.stop()
        self._remove()

    def _remove(self) -> list[str]:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        shutil.rmtree(self.folder, ignore_errors=True)
        return names

    def _receive(self, timeout_s: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        deadline = time.monotonic() + timeout_s
        streams = [self._process.stdout, self._process.stderr]
        while b"\n" not in self._pending:
            ready, _, _ = select.select(streams, [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise WorkerGone(f"the supervisor did not answer within {timeout_s:g} s")
            for stream in ready:
                chunk = os.read(stream.fileno(), 1 << 16)
                if stream is self._process.stderr:
                    self._complaints += chunk
                    del self._complaints[:-4000]
                    if not chunk:
                        streams.remove(stream)
                elif not chunk:
                    raise WorkerGone(self._ending())
                else:
                    self._pending += chunk
        line, _, rest = bytes(self._pending).partition(b"\n")
        self._pending[:] = rest
        return dict(json.loads(line))

    def _ending(self) -> str:
        try:
            code = self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            return "the supervisor closed its output"
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        self._complaints += self._process.stderr.read() or b""
        said = " ".join(self._complaints.decode("utf-8", "replace").split())[-400:]
        return f"the supervisor ended with code {code}: {said}"


def selfcheck(
    backends: Iterable[str] = ("local",),
    *,
    attacks_dir: Path | None = None,
    only: Iterable[str] = (),
    options: Mapping[str, Mapping[str, Any]] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int, Report], None] | None = None,
) -> dict[str, Any]:
    """Run the attacks and say what became of each; the object that `--json` prints.

    `attacks_dir` takes the place of the attacks that come with Verigym, `only` names some of them,
    `options` are those of each backend's constructor. As root each backend is attacked as root and
    as user 65534; an ordinary user attacks as themselves. `workers` (default 3) is for each half.
    `progress` is called with how many are done, of how many, and the newest report. Raises
    RequestError for a bad request, SandboxError where no backend could be attacked.
    """
    backends = list(dict.fromkeys(backends))
    attacks = choose(load(attacks_dir), only)
    workers = min(workers or 3, len(attacks))
    options = options or {}
    start = time.monotonic()
    kinds = (True, False) if os.geteuid() == 0 else (False,)
    halves = [
        Half(backend=backend, as_root=kind, options=options.get(backend, {}))
        for backend in backends
        for kind in kinds
    ]
    done = _Counter(len(attacks) * len(halves), progress)
    token = new_token()
    owners = {NOBODY} if os.geteuid() == 0 else set()
    before = host.objects(owners)
    with Canaries() as canaries:
        for backend in backends:
            both = [half for half in halves if half.backend == backend]
            _run_all(both, attacks, workers, token, done)
            for half in both:
                _again(half, attacks, token, canaries)
        notes = list(canaries.notes)
    for half in halves:
        if half.unavailable and any(h.reports for h in halves if h.backend == half.backend):
            _fill(half, attacks)
    left = [f"{half.title}: {thing}" for half in halves for thing in half.left]
    left += _left_behind(before, owners, halves)
    reports = [report for half in halves for report in half.reports.values()]
    if not reports:
        why = "; ".join(f"{half.title}: {half.unavailable}" for half in halves)
        raise SandboxError(f"nothing could be attacked here: {why}")
    if os.geteuid() != 0:
        notes.append("run by an ordinary user: attacked as that user only, not as root")
    count = [report["outcome"] for report in reports]
    return {
        "total": len(reports),
        "contained": count.count(CONTAINED),
        "escaped": count.count(ESCAPED),
        "unknown": count.count(UNKNOWN),
        "left": left,
        "notes": notes,
        "wall_s": round(time.monotonic() - start, 1),
        "halves": [
            {
                "backend": half.backend,
                "as_root": half.as_root,
                "unavailable": half.unavailable,
                "sandbox": half.ready,
            }
            for half in halves
        ],
        "attacks": reports,
    }


class _Counter:
    """Counts reports for `progress`, from any thread."""

    def __init__(self, total: int, progress: Callable[[int, int, Report], None] | None) -> None:
        self._lock = threading.Lock()
        self._done, self._total, self._progress = 0, total, progress

    def add(self, report: Report) -> None:
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total, report)


def _run_all(
    halves: list[Half], attacks: list[Attack], workers: int, token: str, done: _Counter
) -> None:
    """Attack all `halves` at once, each with `workers` workers. Ctrl-C ends them in order."""
    stop = threading.Event()
    failures: list[BaseException] = []
    threads = []
    for half in halves:
        todo: queue.SimpleQueue[Attack] = queue.SimpleQueue()
        for attack in attacks:
            todo.put(attack)
        for number in range(workers):

            def work(half: Half = half, todo: queue.SimpleQueue[Attack] = todo) -> None:
                try:
                    _work(half, todo, token, done, stop)
                except (OSError, ValueError) as error:
                    failures.append(error)

            threads.append(threading.Thread(target=work, name=f"{half.title} {number}"))
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise SandboxError(f"the self-check could not go on: {failures[0]}") from failures[0]


def _work(
    half: Half,
    todo: queue.SimpleQueue[Attack],
    token: str,
    done: _Counter | None,
    stop: threading.Event,
) -> None:
    """Take attacks from `todo` until there are none, with one worker, or with a new one if it dies."""
    worker: Worker | None = None
    try:
        while not stop.is_set():
            try:
                attack = todo.get_nowait()
            except queue.Empty:
                break
            if worker is None:
                worker = _open(half, token)
                if worker is None:
                    return
            start = time.monotonic()
            try:
                report = worker.ask(asdict(attack), _ATTACK_S)
            except WorkerGone as error:
                report = _gone(attack, half, start, str(error))
                worker.discard()
                worker = None
            else:
                if "unavailable" in report:
                    report = _gone(attack, half, start, report["unavailable"])
                    worker.discard()
                    worker = None
            report.update(as_root=half.as_root, backend=half.backend)
            half.reports[attack.name] = report
            if done is not None:
                done.add(report)
        if worker is not None and not stop.is_set():
            half.left += worker.finish()
            worker = None
    finally:
        if worker is not None:
            worker.discard()


def _open(half: Half, token: str) -> Worker | None:
    """A worker that is ready; None, and the reason in `half`, where there can be none."""
    worker = Worker(half, token)
    try:
        answer = worker.start()
    except WorkerGone as error:
        answer = {"unavailable": str(error)}
    if "ready" in answer:
        half.ready = answer["ready"]
        half.pids |= set(answer["pids"])
        return worker
    half.unavailable = str(answer.get("unavailable", answer))
    worker.discard()
    return None


def _gone(attack: Attack, half: Half, start: float, why: str) -> Report:
    """The report of an attack during which the worker died or hung."""
    return {
        "name": attack.name,
        "file": attack.file,
        "threat": attack.threat,
        "expect": attack.expect,
        "outcome": ESCAPED,
        "evidence": why,
        "again": True,
        "start": start,
        "end": time.monotonic(),
    }


def _fill(half: Half, attacks: list[Attack]) -> None:
    """Say of each attack that was not run why that is so."""
    for attack in attacks:
        if attack.name not in half.reports:
            report = _gone(attack, half, 0.0, f"not run: {half.unavailable}")
            report.update(outcome=UNKNOWN, as_root=half.as_root, backend=half.backend, again=False)
            half.reports[attack.name] = report


def _again(half: Half, attacks: list[Attack], token: str, canaries: Canaries) -> None:
    """Try again, alone, what load may have caused, and what ran while a canary was reached."""
    for attack in attacks:
        first = half.reports.get(attack.name)
        if first is None:
            continue
        reached = canaries.between(first["start"], first["end"])
        if not first["again"] and not (reached and first["outcome"] == CONTAINED):
            continue
        todo: queue.SimpleQueue[Attack] = queue.SimpleQueue()
        todo.put(attack)
        _work(half, todo, token, None, threading.Event())
        second = half.reports[attack.name]
        if second is first:
            continue  # no worker could be had: the first report stands
        reached = canaries.between(second["start"], second["end"])
        if reached:
            second["outcome"] = ESCAPED
            second["evidence"] = f"reached {', '.join(reached)}; {second['evidence']}"
        second["first_try"] = first["evidence"]


def _left_behind(before: frozenset[str], owners: Iterable[int], halves: list[Half]) -> list[str]:
    """Shared memory, queues, files and control groups that are new since `before`."""
    pids = {pid for half in halves for pid in half.pids}
    deadline = time.monotonic() + 2.0
    while True:
        left = sorted(host.objects(owners) - before) + sorted(host.groups(pids))
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def check_backends(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise RequestError for a name that is not among `known`."""
    unknown = set(names) - set(known)
    if unknown:
        raise RequestError(f"unknown backend {min(unknown)!r}; known: {', '.join(sorted(known))}")
