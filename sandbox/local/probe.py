"""Probes which layers of the `local` backend are active on this machine, by trying each for real.

Every attempt runs in a short-lived process (attempts.py); nothing is left behind. Takes about 0.1 s.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.local import cgroup
from verigym.sandbox.local.interpreter import interpreter

_TIMEOUT_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One thing that confines jobs, or a setting of the host that helps."""

    name: str
    active: bool
    required: bool
    """True if the backend refuses to run without this layer, unless `accept` names it."""
    stops: str
    """The attack that this layer prevents."""
    without: str
    """The damage that an attacker could do without this layer."""
    why: str = ""
    """Reason why it is not active: the kernel's error, the setting that forbids it, and what to do."""
    detail: str = ""
    """Detail about an active layer, such as its version."""


# Name, whether it is required, what it stops, what an attacker could do without it.
_LAYERS = (
    (
        "user namespace",
        True,
        "Jobs belong to nobody, and what they may do holds inside their namespaces alone.",
        "Run with the rights of the user who started the sandbox; as an ordinary user, no other "
        "namespace can be had either.",
    ),
    (
        "mount namespace",
        True,
        "Jobs have file systems of their own.",
        "See every file of the host that its permissions leave open, keys and other jobs included.",
    ),
    (
        "private root",
        True,
        "Jobs see a few system folders, read-only, and nothing else of the host's files.",
        "Read the host's files, write where its permissions allow.",
    ),
    (
        "bounded disk",
        True,
        "What a job writes goes to a file system of bounded bytes and inodes, gone at its end.",
        "Fill the host's disk or its inodes, and leave files behind.",
    ),
    (
        "pid namespace",
        True,
        "Jobs see and signal their own processes only, all of which end with the first.",
        "Signal, stop or kill the user's processes, and leave daemons behind.",
    ),
    (
        "private /proc",
        True,
        "Of the kernel's figures and settings a job sees those of its own processes only.",
        "Read command lines and environments of the user's processes, kernel addresses, settings.",
    ),
    (
        "network namespace",
        True,
        "Jobs have no network but a loopback of their own, and no abstract sockets of others.",
        "Reach services of this machine, of its network and of the internet.",
    ),
    (
        "ipc namespace",
        True,
        "Shared memory and message queues of the host are out of sight.",
        "Read and change what programs of the same user share, and leave segments behind.",
    ),
    (
        "uts namespace",
        True,
        "The host's name is hidden.",
        "Learn the host's name.",
    ),
    (
        "capabilities",
        True,
        "Nothing that a job starts can gain a right over the machine or the sandbox.",
        "Undo other layers from within: mount, trace, change owners.",
    ),
    (
        "no_new_privs",
        True,
        "Set-user-id programs gain nothing.",
        "Use a hole in a set-user-id program such as sudo to become root.",
    ),
    (
        "seccomp",
        True,
        "Only the kernel's calls that programs need are open, some with few of their arguments.",
        "Try holes in rarely used parts of the kernel, trace the sandbox's processes, take memory "
        "that no limit counts.",
    ),
    (
        "rlimits",
        True,
        "Memory of each process, processor time, descriptors, file sizes and processes are bounded.",
        "Take all memory, processes and time of the machine.",
    ),
    (
        "landlock",
        False,
        "A second wall around files, sockets and signals, by another part of the kernel.",
        "Reach what the other layers miss, should one of them have a hole; where namespaces are "
        "missing too, read the host's files and signal the user's processes.",
    ),
    (
        "cgroups",
        False,
        "Memory and tasks of all processes of a job together are bounded by the kernel.",
        "Take more memory than the limit for a moment: it is watched from outside several times a "
        "second, not bounded. Memory in pipes and sockets is not seen.",
    ),
    (
        "cgroup namespace",
        False,
        "Would hide the names of the host's control groups; not used so far.",
        "Learn the name of the control group that the sandbox runs in, with it or without.",
    ),
    (
        "time namespace",
        False,
        "Would hide how long the host has been up; not used so far.",
        "Learn how long the host has been up, with it or without.",
    ),
    (
        "ptrace scope",
        False,
        "Processes of one user cannot trace each other, a second wall beside the filter.",
        "Nothing from inside; a hole in the filter would open the user's other processes.",
    ),
    (
        "core dumps",
        False,
        "No program of the host runs when a job crashes.",
        "Feed a program of the host, which runs as root, with crashes of chosen contents, should the "
        "limit that turns them off have a hole.",
    ),
    (
        "no swap",
        False,
        "What jobs have in memory stays off the disk, and jobs cannot push others to it.",
        "Slow the host down by filling its swap; secrets of jobs may stay on the disk.",
    ),
)


def layers() -> list[Layer]:
    """Return every layer with what came of trying it here. Raises SandboxError if nothing can be tried."""
    trouble, details = _attempted()
    controller, no_groups = cgroup.find()
    if controller is None:
        trouble["cgroups"] = no_groups
    else:
        details["cgroups"] = f"version {controller.version}"
        trouble["cgroups"] = ""
        controller.close()
    trouble.update(_host_settings(swap_is_bounded=controller is not None))
    found = []
    for name, required, stops, without in _LAYERS:
        why = trouble[name]
        if why and name == "user namespace":
            why = "; ".join([why, *_forbidding()])
        detail = "" if why else details.get(name, "")
        found.append(
            Layer(
                name=name,
                active=not why,
                required=required,
                stops=stops,
                without=without,
                why=why,
                detail=detail,
            )
        )
    return found


def tier(found: Iterable[Layer]) -> str:
    """Return `strong` where every required layer is active; `weaker` where those are that need no
    namespaces, Landlock among them; else `refused`."""
    active = {layer.name for layer in found if layer.active}
    if active >= {name for name, required, _, _ in _LAYERS if required}:
        return "strong"
    if active >= {"no_new_privs", "seccomp", "rlimits", "landlock"}:
        return "weaker"
    return "refused"


def _attempted() -> tuple[dict[str, str], dict[str, str]]:
    """Why each layer of attempts.py fails, or an empty text; and more about some."""
    script = Path(__file__).with_name("attempts.py").resolve()
    python = interpreter()[0]
    try:
        done = subprocess.run(
            [python, "-I", "-S", "-B", str(script)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            start_new_session=True,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise SandboxError(
            f"the sandbox's layers cannot be tried with {python}: {error}"
        ) from error
    found: Mapping[str, Any] = answer["attempts"]
    return dict(found), {"landlock": f"version {answer['landlock']}"}


def _host_settings(swap_is_bounded: bool) -> dict[str, str]:
    """Why settings of the host are not as they should be; empty texts where they are."""
    pattern = _read("/proc/sys/kernel/core_pattern") or ""
    scope = _read("/proc/sys/kernel/yama/ptrace_scope")
    swaps = (_read("/proc/swaps") or "").splitlines()[1:]
    return {
        "ptrace scope": (
            "the kernel has no Yama"
            if scope is None
            else "kernel.yama.ptrace_scope is 0; set it to 1 or more"
            if scope == "0"
            else ""
        ),
        "core dumps": (
            f"kernel.core_pattern starts a program: {pattern}; set it to core"
            if pattern.startswith("|")
            else ""
        ),
        "no swap": (
            f"{len(swaps)} swap area(s) are on, and no control group keeps jobs off them"
            if swaps and not swap_is_bounded
            else ""
        ),
    }


def _forbidding() -> list[str]:
    """Settings that forbid an ordinary user, or everyone, new user namespaces."""
    found = []
    ordinary = os.geteuid() != 0
    if _read("/proc/sys/user/max_user_namespaces") == "0":
        found.append("user.max_user_namespaces is 0; set it to 10000")
    if ordinary and _read("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        found.append("kernel.unprivileged_userns_clone is 0; set it to 1")
    if ordinary and _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        found.append(
            "kernel.apparmor_restrict_unprivileged_userns is 1; give Python an AppArmor profile "
            "with userns, or set it to 0"
        )
    if any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))):
        found.append(
            "this is a container, whose runtime's default profile forbids new namespaces; "
            "see docs/sandbox-hardening.md"
        )
    return found


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
