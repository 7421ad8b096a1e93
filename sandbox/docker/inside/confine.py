"""Confines a process for good: limits, a system call filter, and Landlock where the kernel has it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import struct

FOLDER = "/tmp"
"""The only folder of the job, in memory."""

# <linux/prctl.h>
PR_SET_DUMPABLE, _PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
# <linux/landlock.h>, as in verigym/sandbox/local/landlock.py; system calls 444 to 446 everywhere.
_LANDLOCK_WRITING, _LANDLOCK_REFER, _LANDLOCK_WRITE_FILE, _LANDLOCK_TRUNCATE = (
    0x1FF2,
    1 << 13,
    1 << 1,
    1 << 14,
)
_WRITABLE = (FOLDER, "/dev/shm", "/dev/null", "/dev/zero", "/dev/full")

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, *values: int) -> bool:
    wide = [ctypes.c_ulong(value) for value in (*values, *(0,) * (4 - len(values)))]
    return bool(_libc.prctl(ctypes.c_int(option), *wide) == 0)


def install_filter(program: bytes) -> bool:
    """Put this process under a system call filter, for good; True if done."""
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog of <linux/filter.h>
    header = struct.pack("@HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    place = ctypes.create_string_buffer(header, len(header))
    return bool(program) and prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(place))


def keep_writes_in() -> None:
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


def set_limit(what: int, value: int) -> None:
    """Set soft and hard limit, no higher than what the engine allows."""
    most = resource.getrlimit(what)[1]
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(what, (value, value))
