"""Messages that give a slot its step: the encoded job and the descriptors that go with it."""

from __future__ import annotations

import array
import marshal
import os
import re
import resource
import socket
from typing import Any

from verigym.errors import SandboxError
from verigym.sandbox.local.child import MAX_MESSAGE, NOBODY
from verigym.sandbox.local.interpreter import ENVIRONMENT, PACKAGES
from verigym.sandbox.local.server import Slot, WarmServer, memory_file
from verigym.sandbox.step import ProgramRun

_SCIENCE = re.compile("|".join((*PACKAGES, "mpmath", "dateutil")).encode())
# What a process reads when it starts: a warm one has started already.
_START_VARIABLES = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "OMP_", "OPENBLAS_", "MKL_", "LC_", "TZ")
_WARM_FLAGS = ("-s", "-B", "-X", "utf8")
# Of the slot and of the kernel, in the job's control group.
_SLACK_MIB = 16
_INLINE_STDIN = 32 << 10


def image(step: ProgramRun) -> str:
    """Return the warm server that has imported what `step` will: one of IMAGES."""
    if step.python is None:
        return "bare"
    found: set[bytes] = set()
    for name, data in step.files.items():
        if name.endswith(".py"):
            found.update(_SCIENCE.findall(data))
    if not found:
        return "bare"
    return "numpy" if found == {b"numpy"} else "science"


def send(
    step: ProgramRun, server: WarmServer, slot: Slot, stdin: int | None = None
) -> tuple[int, int]:
    """Give `step` to `slot`; this side's ends of standard output and error."""
    limits = step.limits
    if slot.group is not None:
        bounds = (limits.memory_mib + limits.disk_mib + _SLACK_MIB, limits.processes + 4)
        if slot.bounds != bounds:
            slot.group.set(bounds[0] << 20, bounds[1])
            slot.bounds = bounds
    disk = (limits.disk_mib, limits.inodes)
    if slot.disk != disk:
        slot.control.send(b"S%d %d" % (disk[0] << 20, disk[1] + 1))
        slot.control.settimeout(10.0)
        if slot.control.recv(4096) != b"S":
            raise SandboxError("the slot cannot set the size of its file system")
        slot.control.settimeout(None)
        slot.disk = disk
    if step.fetch:
        slot.control.send(b"H")
    data = marshal.dumps(_order(step, server))
    fds = []
    try:
        out_read, out_write = os.pipe()
        fds += [out_read, out_write]
        err_read, err_write = os.pipe()
        fds += [err_read, err_write]
        sent = [out_write, err_write]
        if stdin is not None:
            sent.append(stdin)
        elif len(step.stdin) > _INLINE_STDIN:
            sent.append(memory_file(step.stdin))
            fds.append(sent[-1])
        if len(data) <= MAX_MESSAGE:
            message = b"I" + data
        else:
            message = b"F"
            sent.append(memory_file(data))
            fds.append(sent[-1])
        if server.settings["as_root"]:
            # So that the job may open /dev/stdout: it is a file of its user then.
            for fd in (out_write, err_write):
                os.fchown(fd, NOBODY, NOBODY)
        os.set_blocking(out_read, False)
        os.set_blocking(err_read, False)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", sent))]
        slot.jobs.sendmsg([message], ancillary)
    except BaseException:
        for fd in fds:
            os.close(fd)
        raise
    for fd in fds:
        if fd not in (out_read, err_read):
            os.close(fd)
    return out_read, err_read


def _order(step: ProgramRun, server: WarmServer) -> dict[str, Any]:
    warm = _is_warm(step, server)
    argv = list(step.argv)
    if warm:
        argv = argv[argv.index(str(step.python)) :]
    return {
        "python": step.python if warm else None,
        "argv": argv,
        "env": dict(step.env) if warm else {**_environment(server), **step.env},
        "files": [
            (name, data, 0o755 if name in step.executable else 0o644)
            for name, data in step.files.items()
        ],
        "stdin": step.stdin if len(step.stdin) <= _INLINE_STDIN else b"",
        "rlimits": _rlimits(step, server, warm),
    }


def _environment(server: WarmServer) -> dict[str, str]:
    """Return the environment of an executed program, without the variables of its step."""
    names = (*ENVIRONMENT, "LD_LIBRARY_PATH")
    return {name: server.settings["env"][name] for name in names if name in server.settings["env"]}


def _is_warm(step: ProgramRun, server: WarmServer) -> bool:
    """Return True if the server's own interpreter can run `step` like a fresh one."""
    if step.python is None or step.argv[0] != "python3" or step.python not in step.argv:
        return False
    if step.argv[1 : step.argv.index(step.python)] != _WARM_FLAGS:
        return False
    for name, value in step.env.items():
        if name.startswith(_START_VARIABLES) and server.settings["env"].get(name) != value:
            return False
    # A module of the job's own would be hidden by one that is loaded already.
    tops = {name.partition("/")[0].removesuffix(".py") for name in step.files}
    return tops.isdisjoint(server.modules)


def _rlimits(step: ProgramRun, server: WarmServer, warm: bool) -> list[tuple[int, int, int]]:
    limits = step.limits
    cpu_s = max(1, int(limits.cpu_s + 0.999))
    if step.python is not None:
        address_space = limits.memory_mib + server.hello["address_space_mib"]
    else:
        address_space = step.address_space_mib or limits.memory_mib
    disk = limits.disk_mib << 20
    rlimits = [
        (resource.RLIMIT_AS, address_space << 20),
        (resource.RLIMIT_FSIZE, disk),
        (resource.RLIMIT_NOFILE, limits.open_files),
        # Counted in the slot's user namespace; an ordinary user's slot is of the same user.
        (resource.RLIMIT_NPROC, limits.processes + (0 if server.settings["as_root"] else 1)),
    ]
    return [
        *((what, _at_most(what, most), _at_most(what, most)) for what, most in rlimits),
        (
            resource.RLIMIT_CPU,
            _at_most(resource.RLIMIT_CPU, cpu_s),
            _at_most(resource.RLIMIT_CPU, cpu_s + 1),
        ),
    ]


def _at_most(what: int, wanted: int) -> int:
    """`wanted`, or the hard limit of this process where that is lower."""
    _, hard = resource.getrlimit(what)
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
