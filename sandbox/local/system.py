"""System calls that Python 3.11 has no function for. Loaded inside the sandbox too: stdlib alone."""

from __future__ import annotations

import ctypes
import os
import struct

# <linux/sched.h>
NEW_USER = 0x10000000
NEW_MOUNT, NEW_PID, NEW_NET, NEW_IPC, NEW_UTS = (
    0x00020000,
    0x20000000,
    0x40000000,
    0x08000000,
    0x04000000,
)
# <sys/mount.h>
READ_ONLY, NO_SUID, NO_DEV, NO_EXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = (
    1,
    2,
    4,
    8,
    32,
    4096,
    16384,
    1 << 18,
)
DETACH = 2
# <linux/prctl.h>
SET_PDEATHSIG, SET_DUMPABLE, SET_NAME, CAPBSET_DROP, SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS = (
    1,
    4,
    15,
    24,
    36,
    38,
)
# The same numbers on every architecture.
_SYS_MOUNT_SETATTR, _SYS_OPENAT2 = 442, 437
_SYS_CAPSET = {"x86_64": 126, "aarch64": 91}
_AT_RECURSIVE, _AT_FDCWD = 0x8000, -100
# <linux/openat2.h>
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 1, 2, 4, 8
_SFD_CLOEXEC = os.O_CLOEXEC

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
# Its varargs are unsigned long; ctypes would pass int and leave the upper half undefined.
_libc.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
_libc.mount.argtypes = (*[ctypes.c_char_p] * 3, ctypes.c_ulong, ctypes.c_char_p)
_CAPSET = _SYS_CAPSET.get(os.uname().machine, -1)
_NO_CAPABILITIES = struct.pack("=Ii", 0x20080522, 0), bytes(24)  # _LINUX_CAPABILITY_VERSION_3


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Call unshare(2)."""
    _check(_libc.unshare(ctypes.c_int(flags)), f"unshare {flags:#x}")


def prctl(option: int, value: int) -> None:
    """Call prctl(2) with one argument."""
    if _libc.prctl(option, value, 0, 0, 0):
        _check(-1, f"prctl {option}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Call mount(2)."""
    _check(
        _libc.mount(
            source.encode(),
            target.encode(),
            kind.encode() if kind else None,
            flags,
            data.encode() if data else None,
        ),
        f"mount {target}",
    )


def unmount(target: str) -> None:
    """Take the newest mount at `target` out of sight; it ends with its last user."""
    _check(_libc.umount2(target.encode(), DETACH), f"unmount {target}")


def set_mount(target: str, flags: int) -> None:
    """Add READ_ONLY, NO_SUID or NO_DEV to the mount at `target` and to all below it.

    A remount would have to repeat the flags that are locked.
    """
    attributes = (ctypes.c_uint64 * 4)(flags, 0, 0, 0)
    _check(
        _libc.syscall(
            ctypes.c_long(_SYS_MOUNT_SETATTR),
            ctypes.c_long(_AT_FDCWD),
            target.encode(),
            ctypes.c_long(_AT_RECURSIVE),
            ctypes.byref(attributes),
            ctypes.c_size_t(ctypes.sizeof(attributes)),
        ),
        f"mount_setattr {target}",
    )


def enter_root(folder: str) -> None:
    """Make `folder`, a mount, the root of this mount namespace, and forget the old one."""
    os.chdir(folder)
    _check(_libc.pivot_root(b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", DETACH), "umount of the old root")
    os.chdir("/")


def drop_capabilities() -> None:
    """Give up every capability of this process."""
    _check(_libc.syscall(_CAPSET, *_NO_CAPABILITIES), "capset")


def bound_capabilities() -> None:
    """Let nothing that this process or its children execute gain a capability."""
    for capability in range(64):
        try:
            prctl(CAPBSET_DROP, capability)
        except OSError:  # past the last one that the kernel knows
            return


def child_signals() -> int:
    """Return a descriptor that is readable when a child has ended; blocks SIGCHLD in this thread."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    wanted = struct.pack("=Q", 1 << (signal.SIGCHLD - 1)) + bytes(120)
    return _check(_libc.signalfd(-1, wanted, _SFD_CLOEXEC | os.O_NONBLOCK), "signalfd")


def open_beneath(folder: int, name: bytes, flags: int) -> int:
    """Open `name` below descriptor `folder` without following any link or leaving it: openat2(2)."""
    how = struct.pack(
        "=QQQ", flags | os.O_CLOEXEC, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS | _NO_XDEV
    )
    return _check(
        _libc.syscall(
            ctypes.c_long(_SYS_OPENAT2),
            ctypes.c_long(folder),
            name,
            how,
            ctypes.c_size_t(len(how)),
        ),
        "openat2",
    )
