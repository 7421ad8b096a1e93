"""One process that attacks one sandbox: `python -m verigym.sandbox.selfcheck.worker CALLER`, by process.py.

Reads lines of JSON on standard input: first the plan (`backend`, `options`), then one attack a line.
Writes lines of JSON: first `ready` with what the backend says of itself, or `unavailable` with why;
then a report for each attack; at the end of input `left`, what is still there once the sandbox is
closed. CALLER is the process that removes the folder for temporary files, unless it was killed. A worker is
a process of its own so that everything below it is the sandbox's doing, and so that
the token in its environment was there when it began.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from verigym.errors import VerigymError
from verigym.sandbox.base import Cancellation, Sandbox
from verigym.sandbox.job import Job, JobStatus, Result
from verigym.sandbox.selfcheck import host
from verigym.sandbox.selfcheck.attack import LIMITS, Attack
from verigym.sandbox.selfcheck.backends import open_sandbox
from verigym.sandbox.selfcheck.bystanders import EARLIER, HONEST, NEIGHBOUR, SECRET
from verigym.sandbox.selfcheck.canaries import TOKEN_NAME
from verigym.sandbox.selfcheck.judge import AttackRecord, judge
from verigym.sandbox.selfcheck.sampler import sampler, tasks

_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>
_SOON_S = 1.0
_NEIGHBOUR_S = 900.0
# A warm backend may keep a server for each of these.
_IMPORTERS = tuple(
    f"try:\n    import {names}\nexcept ImportError:\n    pass\n"
    for names in ("numpy", "numpy, sympy", "numpy, sympy, pandas")
)


class AttackedSandbox:
    """A sandbox with a neighbour job in it, and what it looked like before the first attack."""

    def __init__(self, sandbox: Sandbox, token: str) -> None:
        self.sandbox = sandbox
        self.neighbour_end = Cancellation()
        self.neighbour: Result | None = None
        self.neighbour_thread: threading.Thread | None = None
        self.start_neighbour()
        # So that whatever the backend starts at first need is there before the first attack.
        for source in _IMPORTERS:
            self.sandbox.run(Job(source=source, limits=replace(LIMITS, wall_s=30.0)))
        first = self.run_honest()
        self.honest = self.run_honest()
        # What differs between two innocent jobs says nothing of an attack (a weaker tier shows more of
        # the host, which has a life of its own).
        self.restless = set(_found(first).items()) ^ set(_found(self.honest).items())
        if self.honest.status is not JobStatus.OK:
            raise VerigymError(
                f"an honest job fails before any attack: {self.honest.status} "
                f"{self.honest.detail} {self.honest.stderr[-300:]!r}"
            )
        self.secrets = {token.encode(): "the host's token"}
        self.secrets |= {
            line: "a line of the host's files"
            for path in ("/etc/passwd", "/etc/shadow", "/etc/machine-id")
            for line in _lines(path)
            if len(line) > 20 and line not in _inside(self.honest)
        }
        self.tasks = self._settled()
        self.traits = {pid: host.traits(pid) for pid in (os.getpid(), os.getppid())}

    def _settled(self) -> int:
        """Return the maximum number of tasks of the idle sandbox and the neighbour."""
        most = 0
        for _ in range(8):
            most = max(most, len(tasks(host.descendants())))
            time.sleep(0.05)
        return most

    def start_neighbour(self) -> None:
        """Start the job that runs beside every attack."""
        self.neighbour, self.neighbour_end = None, Cancellation()
        job = Job(
            source=NEIGHBOUR,
            args=(str(_NEIGHBOUR_S),),
            stdin=SECRET.encode(),
            env={"NEIGHBOUR": SECRET},
            limits=replace(LIMITS, wall_s=_NEIGHBOUR_S + 60, cpu_s=120.0),
        )

        def keep(end: Cancellation) -> None:
            result = self.sandbox.run(job, cancellation=end)
            if end is self.neighbour_end:
                self.neighbour = result

        self.neighbour_thread = threading.Thread(
            target=keep, args=(self.neighbour_end,), name="neighbour", daemon=True
        )
        self.neighbour_thread.start()

    def stop_neighbour(self) -> None:
        """End it and wait until it is gone."""
        self.neighbour_end.cancel()
        if self.neighbour_thread is not None:
            self.neighbour_thread.join(10.0)

    def run_honest(self) -> Result:
        """Return the result of one harmless job."""
        return self.sandbox.run(Job(source=HONEST, limits=replace(LIMITS, wall_s=10.0)))

    def attack(self, attack: Attack) -> dict[str, Any]:
        """Run one attack and everything around it; the report, as JSON."""
        began = time.monotonic()
        if attack.language not in self.sandbox.languages:
            seen = AttackRecord(
                result=Result(status=JobStatus.SANDBOX_ERROR),
                wall_s=0.0,
                absent=f"{attack.language} is not installed where the sandbox runs",
            )
            return self._report(attack, seen, began, 0.0)
        self.sandbox.run(
            Job(
                source=EARLIER,
                stdin=SECRET.encode() * 100,
                env={"EARLIER": SECRET},
                files={"earlier.dat": SECRET.encode() * 1000},
                limits=LIMITS,
            )
        )
        mounts, settings = host.mounts(), host.settings()
        outside: list[str] = []
        load: list[str] = []
        with sampler(attack, self.tasks) as sampled:
            start = time.monotonic()
            result = self.sandbox.run(_job(attack, attack.source))
            wall_s = time.monotonic() - start
        outside += sorted(sampled)
        then = None
        honest_s = self._honest(attack, load, outside)
        if attack.then is not None:
            then = self.sandbox.run(_job(attack, attack.then))
        self._left(attack, load)
        for pid, old in self.traits.items():
            new = host.traits(pid)
            changed = sorted(name for name in old if new.get(name) != old[name])
            if changed:
                outside.append(f"process {pid} of the supervisor changed: {', '.join(changed)}")
                self.traits[pid] = new
        if host.mounts() != mounts:
            outside.append(f"mounts changed: {sorted(host.mounts() ^ mounts)[:3]}")
        now = host.settings()
        outside += [f"{name} changed" for name in settings if settings[name] != now[name]]
        if self.neighbour is not None:
            said = self.neighbour.stdout[-200:].decode("utf-8", "replace").strip()
            text = (
                f"the job next door ended: {self.neighbour.status} {said} {self.neighbour.detail}"
            )
            (outside if "REACHED" in said else load).append(text)
            self.start_neighbour()
        seen = AttackRecord(result=result, wall_s=wall_s, then=then, outside=outside, load=load)
        return self._report(attack, seen, began, honest_s)

    def _report(
        self, attack: Attack, seen: AttackRecord, began: float, honest_s: float
    ) -> dict[str, Any]:
        outcome, evidence, again = judge(attack, seen, self.secrets)
        return {
            "name": attack.name,
            "file": attack.file,
            "threat": attack.threat,
            "expect": attack.expect,
            "outcome": outcome,
            "evidence": evidence,
            "again": again,
            "status": seen.result.status.value,
            "exit_code": seen.result.exit_code,
            "signal": seen.result.signal,
            "wall_s": round(seen.wall_s, 3),
            "cpu_s": round(seen.result.cpu_s, 3),
            "memory_mib": round(seen.result.memory_mib, 1),
            "honest_s": round(honest_s, 3),
            "start": began,
            "end": time.monotonic(),
        }

    def _honest(self, attack: Attack, load: list[str], outside: list[str]) -> float:
        """Run the honest job that must succeed at once; how long it took."""
        start = time.monotonic()
        honest = self.run_honest()
        honest_s = time.monotonic() - start
        if honest.status is not JobStatus.OK:
            tail = honest.stderr[-200:].decode("utf-8", "replace").strip()
            load.append(f"the next honest job ended as {honest.status}: {honest.detail} {tail}")
        elif self._difference(honest):
            outside.append(f"the next honest job found another world: {self._difference(honest)}")
        elif honest_s > _SOON_S:
            load.append(f"the next honest job took {honest_s:.1f} s")
        return honest_s

    def _difference(self, honest: Result) -> str:
        before, after = _found(self.honest), _found(honest)
        restless = {name for name, _ in self.restless}
        changed = [
            f"{name} {before.get(name, '')[:200]} -> {after.get(name, '')[:200]}"
            for name in sorted({*before, *after} - restless)
            if before.get(name) != after.get(name)
        ]
        return "; ".join(changed[:3])

    def _left(self, attack: Attack, load: list[str]) -> None:
        """Note processes beyond those of the idle sandbox that are still there after a second.

        A sandbox may replace its own helpers, so it is their number that must be the same again. It
        may also start one more at first need: what the attack leaves behind is left each time.
        """
        if not self._more():
            return
        self.tasks += self._more()
        self.sandbox.run(_job(attack, attack.source))
        more = self._more()
        if more:
            names = [f"{p.pid} {p.name!r} {p.state}" for p in host.descendants().values()]
            load.append(f"{more} more tasks are there 1 s later, of: {', '.join(names[-8:])}")

    def _more(self) -> int:
        """Return the number of tasks beyond the usual, after at most a second."""
        deadline = time.monotonic() + _SOON_S
        while True:
            more = len(tasks(host.descendants())) - self.tasks
            if more <= 0:
                return 0
            if time.monotonic() > deadline:
                return more
            time.sleep(0.02)

    def left(self) -> list[str]:
        """Return the processes that remain below this one; call it after the sandbox is closed."""
        deadline = time.monotonic() + 3.0
        while host.descendants() and time.monotonic() < deadline:
            time.sleep(0.02)
        return [f"process {p.pid} {p.name} {p.state}" for p in host.descendants().values()]


def _job(attack: Attack, source: str) -> Job:
    return Job(
        source=source,
        language=attack.language,
        stdin=attack.stdin.encode(),
        limits=replace(LIMITS, wall_s=attack.wall_s, cpu_s=attack.cpu_s),
        fetch=("out.txt", "*"),
    )


def _lines(path: str) -> list[bytes]:
    try:
        return Path(path).read_bytes().splitlines()
    except OSError:
        return []


def _found(honest: Result) -> dict[str, str]:
    """Return the findings of an honest job, by name, as JSON."""
    lines = honest.stdout.decode("utf-8", "replace").splitlines()
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}


def _inside(honest: Result) -> bytes:
    """The users that a job sees, as its honest program printed them."""
    return str(json.loads(_found(honest).get("users", '""'))).encode()


def main() -> None:
    """Follow the plan that is read from standard input."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Orphans of a job come to this process, so that none hides by losing its parents.
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, *map(ctypes.c_ulong, (1, 0, 0, 0)))
    plan = json.loads(sys.stdin.readline())
    token = os.environ.get(TOKEN_NAME, "")
    before = host.descriptors()

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")

    try:
        sandbox = open_sandbox(plan["backend"], plan["options"])
    except (VerigymError, ImportError) as error:
        say({"unavailable": str(error)})
        return
    left: list[str] = []
    worker = None
    try:
        worker = AttackedSandbox(sandbox, token)
        memory = host.resident_mib(host.descendants())
        say({"ready": sandbox.describe(), "pids": sorted(host.descendants())})
        for line in sys.stdin:
            say(worker.attack(Attack(**json.loads(line))))
        worker.stop_neighbour()
        worker.run_honest()
        grown = host.resident_mib(host.descendants()) - memory
        if grown > 64:
            left.append(f"{grown:.0f} MiB more memory than before")
    except VerigymError as error:
        say({"unavailable": str(error)})
    finally:
        if worker is not None:
            worker.stop_neighbour()
        sandbox.close()
    if worker is not None:
        left += worker.left()
    after = host.descriptors()
    left += [f"descriptor {fd} {what}" for fd, what in after.items() if fd not in before]
    say({"left": left})


if __name__ == "__main__":
    try:
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            main()
    finally:
        if os.getppid() != int(sys.argv[1]):  # who would have removed the folder was killed
            shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
