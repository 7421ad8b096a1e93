"""`selfcheck`: every attack on every backend that is here, as root and as an ordinary user.

Each half (a backend, as one kind of user) has a few workers, processes of their own with a sandbox
of their own, so that an attack and the honest job after it meet the same warm server. What a busy
machine may have caused is tried again alone, and only then counts.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from verigym.errors import RequestError, SandboxError
from verigym.sandbox.selfcheck import host
from verigym.sandbox.selfcheck.attack import Attack, choose, load
from verigym.sandbox.selfcheck.canaries import Canaries, new_token
from verigym.sandbox.selfcheck.judge import CONTAINED, ESCAPED, UNKNOWN
from verigym.sandbox.selfcheck.ordinary import NOBODY
from verigym.sandbox.selfcheck.process import WorkerGone, WorkerProcess

_ATTACK_S = 90.0

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
        """Name for people."""
        return f"{self.backend} as {'root' if self.as_root else 'an ordinary user'}"


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
    as user 65534; an ordinary user attacks as themselves. `workers` (default 3, 1 for `remote`) is for each half.
    `progress` is called with how many are done, of how many, and the newest report. Raises
    RequestError for a bad request, SandboxError where no backend could be attacked.
    """
    backends = list(dict.fromkeys(backends))
    attacks = choose(load(attacks_dir), only)
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
    # Process numbers come again: a group of an earlier process may bear one of ours.
    before = host.objects(owners) | host.groups()
    with Canaries() as canaries:
        for backend in backends:
            both = [half for half in halves if half.backend == backend]
            # A service that all workers share has few places, and each worker takes two.
            usual = 1 if backend == "remote" else 3
            _run_all(both, attacks, min(workers or usual, len(attacks)), token, done)
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
        raise SandboxError(f"no attack could be run here: {why}")
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
    threads: list[threading.Thread] = []
    # In place of `Thread.join`, which takes a thread for ended where Ctrl-C interrupts it (Python 3.11).
    ended: list[threading.Event] = []
    for half in halves:
        todo: queue.SimpleQueue[Attack] = queue.SimpleQueue()
        for attack in attacks:
            todo.put(attack)
        for number in range(workers):
            end = threading.Event()
            ended.append(end)

            def work(
                half: Half = half,
                todo: queue.SimpleQueue[Attack] = todo,
                end: threading.Event = end,
            ) -> None:
                try:
                    _work(half, todo, token, done, stop)
                except (OSError, ValueError) as error:
                    failures.append(error)
                finally:
                    end.set()

            threads.append(threading.Thread(target=work, name=f"{half.title} {number}"))
    try:
        for thread in threads:
            thread.start()
        for end in ended:
            while not end.wait(0.2):
                pass
    finally:
        stop.set()
        for thread, end in zip(threads, ended, strict=True):
            if thread.ident is not None:  # it was started
                end.wait()
    if failures:
        raise SandboxError(f"the self-check stopped: {failures[0]}") from failures[0]


def _work(
    half: Half,
    todo: queue.SimpleQueue[Attack],
    token: str,
    done: _Counter | None,
    stop: threading.Event,
) -> None:
    """Take attacks from `todo` until there are none, with one worker, or with a new one if it dies."""
    worker: WorkerProcess | None = None
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


def _open(half: Half, token: str) -> WorkerProcess | None:
    """A worker that is ready; None, and the reason in `half`, where there can be none."""
    ordinary = os.geteuid() == 0 and not half.as_root
    worker = WorkerProcess(half.backend, half.options, token, ordinary=ordinary)
    half.pids.add(worker.pid)
    try:
        answer = worker.start()
    except WorkerGone as error:
        answer = {"unavailable": str(error)}
    except BaseException:
        worker.discard()
        raise
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
        left = sorted((host.objects(owners) | host.groups_of(pids)) - before)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def check_backends(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise RequestError for a name that is not among `known`."""
    unknown = set(names) - set(known)
    if unknown:
        raise RequestError(f"unknown backend {min(unknown)!r}; known: {', '.join(sorted(known))}")
