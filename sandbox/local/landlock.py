"""Landlock (landlock(7)): the kernel's own list of the files that a process and its children may use.

Loaded by the warm server inside the sandbox too, so it imports nothing of Verigym. Beside a private
root it is a second wall; where namespaces are forbidden it is the only one before the host's files.

Covers, by the version (ABI) that the kernel has: opening, listing, making, linking, renaming and
removing files (1, 2), truncating (3), TCP bind and connect (4), ioctl on devices (5), abstract sockets
and signals to processes outside (6). Does not cover: chmod, chown, utimes, stat and chdir, which go by
permission alone; named sockets of others; UDP; descriptors that were open before.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

# <linux/landlock.h>; the same numbers on every machine.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION, _RULE_PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP = 1 << 0 | 1 << 1  # bind, connect
_SCOPES = 1 << 0 | 1 << 1  # abstract sockets, signals

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def abi() -> int:
    """Return the version of Landlock that this kernel offers, 0 for none."""
    version: int = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    return max(0, version)


def rights(version: int) -> int:
    """Return all rights on files that Landlock of `version` can withhold."""
    bits = 13 + (version >= 2) + (version >= 3) + (version >= 5)
    return (1 << bits) - 1 if version else 0


def restrict(read: Iterable[str], write: Iterable[str], *, tcp: bool = False) -> int:
    """Leave the calling thread and all that it starts the files below `read` and `write`, for good.

    See `ruleset`. Sets no_new_privs. Returns the version in force.
    """
    fd = ruleset(read, write, tcp=tcp)
    try:
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        enter(fd)
    finally:
        os.close(fd)
    return abi()


def ruleset(
    read: Iterable[str], write: Iterable[str], *, listed: Iterable[str] = (), tcp: bool = False
) -> int:
    """Return a descriptor of the rules that leave the files below `read` and `write`, for `enter`.

    Paths name folders or single files and must exist; below `write` everything is allowed but device
    nodes; folders below `listed` can be listed, no more. What is mounted below a folder later is
    below it too. Every right, and every scope, that the kernel's version knows is withheld elsewhere.
    `tcp` leaves TCP alone: for a job with a network namespace of its own. Raises OSError, ENOSYS or
    EOPNOTSUPP where the kernel has no Landlock.
    """
    version = _call(
        "landlock_create_ruleset",
        _CREATE_RULESET,
        None,
        ctypes.c_size_t(0),
        _CREATE_RULESET_VERSION,
    )
    handled = rights(version)
    attributes = struct.pack("=QQQ", handled, 0 if tcp else _TCP, _SCOPES)
    size = 8 if version < 4 else 16 if version < 6 else 24
    fd = _call("landlock_create_ruleset", _CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    try:
        for path in read:
            _allow(fd, path, handled & _READING)
        for path in listed:
            _allow(fd, path, handled & _READ_DIR)
        for path in write:
            _allow(fd, path, handled & ~(_MAKE_CHAR | _MAKE_BLOCK))
    except BaseException:
        os.close(fd)
        raise
    return fd


def enter(fd: int) -> None:
    """Put the calling thread and all that it starts under the rules of `fd`; wants no_new_privs."""
    _call("landlock_restrict_self", _RESTRICT_SELF, fd, 0)


def _allow(ruleset: int, path: str, allowed: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            allowed &= _OF_A_FILE
        rule = struct.pack("=Qi", allowed, fd)
        _call(f"landlock_add_rule {path}", _ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


def _call(what: str, number: int, *arguments: object) -> int:
    result: int = _libc.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result
