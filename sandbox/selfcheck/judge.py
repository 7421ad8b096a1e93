"""From what was seen of an attack to its outcome: `contained`, `escaped` or `unknown`, and why.

A program's own word is believed only against the sandbox. One that says neither word, or says
`CONTAINED`, is contained where nothing was reached, nothing was changed and nothing is left.
`unknown` is for what shows nothing about the sandbox: its language is absent, the program itself is
broken, the machine failed twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from verigym.sandbox.job import JobStatus, Result
from verigym.sandbox.selfcheck.attack import LIMITS, Attack

CONTAINED, ESCAPED, UNKNOWN = "contained", "escaped", "unknown"
# How long after its limit a job may come back; a machine with other work needs some of it.
GRACE_S = 2.0
# Exceptions that say that the program is wrong rather than that it was held.
_BROKEN = re.compile(
    rb"^(NameError|SyntaxError|IndentationError|UnboundLocalError|AssertionError)\b", re.MULTILINE
)
_SOON = re.compile(r"within (\d+) ms after main exit")


@dataclass(frozen=True, kw_only=True)
class AttackRecord:
    """All that was observed of one attack. The texts of `outside` each say one thing that escaped."""

    result: Result
    wall_s: float
    then: Result | None = None
    outside: Sequence[str] = field(default=())
    """Reached, changed or left behind, whatever the machine's load."""
    load: Sequence[str] = field(default=())
    """Late or missing things that a busy machine may also cause: seen again alone, they count."""
    absent: str = ""
    """Why it could not run."""


def judge(
    attack: Attack, seen: AttackRecord, secrets: Mapping[bytes, str]
) -> tuple[str, str, bool]:
    """Return the outcome, evidence in words, and whether load may have caused it (then it is worth another try).

    `secrets` are texts of the host that no job may bring out, and what each is.
    """
    if seen.absent:
        return UNKNOWN, seen.absent, False
    said = _said(seen.result) + (_said(seen.then) if seen.then is not None else [])
    against = [line for line in said if line.startswith("ESCAPED")]
    if not attack.tolerated:
        against += [line for line in said if line.startswith("LEAK")]
    against += seen.outside
    against += _results(attack, seen, secrets)
    if against:
        return ESCAPED, "; ".join(against), _may_be_starved(attack, seen.result)
    late = [*seen.load, *_lateness(attack, seen)]
    if late:
        return ESCAPED, "; ".join(late), True
    for result in (seen.result, seen.then):
        if result is not None and result.status is JobStatus.SANDBOX_ERROR:
            return UNKNOWN, f"sandbox_error: {result.detail}", True
        if result is not None and result.status is JobStatus.COMPILE_ERROR and not attack.statuses:
            return UNKNOWN, f"does not compile: {_tail(result.stderr)}", False
    spoke = [line for line in said if line.startswith(("CONTAINED", "INFO", "LEAK"))]
    if not spoke and _BROKEN.search(seen.result.stderr[-400:]):
        return UNKNOWN, f"the program is broken: {_tail(seen.result.stderr)}", False
    return CONTAINED, "; ".join(spoke)[:500] or f"ended as {_ending(seen.result)}", False


def _may_be_starved(attack: Attack, result: Result) -> bool:
    """Return True if a CPU attack may have got too little processor time to reach its limit."""
    wanted = attack.threat == "cpu" and attack.statuses == (JobStatus.TIME_LIMIT,)
    return wanted and result.status is JobStatus.OK and result.cpu_s < attack.cpu_s


def _said(result: Result) -> list[str]:
    """Lines of standard output that begin with a word of the suite."""
    lines = result.stdout.decode("utf-8", "replace").splitlines()
    words = ("ESCAPED", "CONTAINED", "LEAK", "INFO")
    return [line.strip()[:300] for line in lines if line.strip().startswith(words)]


def _results(attack: Attack, seen: AttackRecord, secrets: Mapping[bytes, str]) -> list[str]:
    """Return the defects of the results themselves."""
    wrong = []
    for result in (seen.result, seen.then):
        if result is None:
            continue
        for what, data in (
            ("standard output", result.stdout),
            ("standard error", result.stderr),
            *((f"file {name!r}", data) for name, data in result.files.items()),
        ):
            leaked = {of for secret, of in secrets.items() if secret in data}
            wrong += [f"{of} is in {what}" for of in sorted(leaked)]
            if len(data) > LIMITS.output_bytes:
                wrong.append(f"{what} came back with {len(data)} bytes, over {LIMITS.output_bytes}")
        twins = result.files.keys() & result.refused.keys()
        wrong += [f"{name!r} came back and was refused" for name in sorted(twins)]
        for name in result.files:
            parts = name.split("/")
            if name.startswith("/") or "\0" in name or any(p in ("", ".", "..") for p in parts):
                wrong.append(f"a file came back under the name {name!r}")
    ending = seen.result
    if ending.status is not JobStatus.SANDBOX_ERROR:
        if attack.statuses and ending.status.value not in attack.statuses:
            wrong.append(f"it ended as {_ending(ending)}, not {' or '.join(attack.statuses)}")
        if attack.exit_code is not None and ending.exit_code != attack.exit_code:
            wrong.append(f"it ended as {_ending(ending)}, not exit code {attack.exit_code}")
    if ending.memory_mib > LIMITS.memory_mib * 1.25 and ending.status is JobStatus.OK:
        wrong.append(f"it took {ending.memory_mib:.0f} MiB of {LIMITS.memory_mib} and went on")
    return wrong


def _lateness(attack: Attack, seen: AttackRecord) -> list[str]:
    late: list[str] = []
    if seen.result.status is JobStatus.COMPILE_ERROR:
        return late  # a compiler has limits of its own
    if seen.result.cpu_s > attack.cpu_s + GRACE_S:
        late.append(f"it took {seen.result.cpu_s:.1f} s of {attack.cpu_s:g} s of processor time")
    if seen.wall_s > attack.wall_s + GRACE_S:
        late.append(f"it held its caller for {seen.wall_s:.1f} s of {attack.wall_s:g} s")
    soon = _SOON.search(attack.expect)
    if soon and (seen.result.status is JobStatus.TIME_LIMIT or seen.wall_s > attack.wall_s / 2):
        late.append(f"its caller waited {seen.wall_s:.1f} s although it had ended")
    return late


def _ending(result: Result) -> str:
    how = f", exit code {result.exit_code}" if result.exit_code is not None else ""
    how += f", signal {result.signal}" if result.signal is not None else ""
    return f"{result.status.value}{how}"


def _tail(data: bytes) -> str:
    return " ".join(data[-300:].decode("utf-8", "replace").split())
