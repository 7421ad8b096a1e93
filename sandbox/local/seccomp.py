"""The system call filter of a job: an allow-list of what language runtimes use.

Loaded by the warm server inside the sandbox too, so it imports nothing of Verigym. A call that is not
listed is answered ENOSYS, as by a kernel without it, so that a libc falls back (clone3 to clone,
io_uring to epoll) and calls of kernels to come are closed. Foreign call tables (i386, x32) kill the
process. What is closed by being left out, and why:

mount, umount2, pivot_root, chroot, fsopen, move_mount, mount_setattr, open_tree (mount(2)), unshare,
    setns (namespaces(7)): a new view of files, or capabilities over one
ptrace, process_vm_readv, process_vm_writev, process_madvise, kcmp, pidfd_getfd: other processes
bpf, perf_event_open, userfaultfd, io_uring_*, io_setup and kin, vmsplice, modify_ldt, landlock_*,
    seccomp: kernel code that a job has no need to reach; io_setup draws on a figure of the whole host
keyctl, add_key, request_key (keyrings(7)), shmget, semget, msgget, mq_open and kin (sysvipc(7)):
    outlive the process, and are not bounded for a user without a cgroup
memfd_create, memfd_secret: memory that no tmpfs bounds and, without a cgroup, nothing counts
inotify_*, fanotify_*, cachestat, name_to_handle_at, open_by_handle_at, statmount, listmount: show what
    others do with files that the job shares with them, or reach past its root
sync, syncfs: make the host write out all it has
mbind, move_pages, migrate_pages, set_mempolicy, sched_setattr, sched_setscheduler, ioprio_set: favour
    or harm beside the limits; process 1 of the sandbox has the same user
init_module, kexec_load, reboot, swapon, quotactl, acct, settimeofday, clock_settime, adjtimex,
    sethostname, syslog, iopl, ioperm, vhangup, lookup_dcookie: the machine itself

Does not cover: bugs in what is allowed, and signals to processes that the job can see (a pid namespace
or Landlock's scopes do that). The filter is kept by fork and execve (seccomp(2)), so install it last.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import NamedTuple

# Name, number on x86_64, number on aarch64 (arch/x86/entry/syscalls/syscall_64.tbl,
# include/uapi/asm-generic/unistd.h).
_ALLOWED = """
read 0 63, write 1 64, open 2 -, openat 257 56, openat2 437 437, creat 85 -, close 3 57
close_range 436 436, lseek 8 62, pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66
preadv 295 69, pwritev 296 70, preadv2 327 286, pwritev2 328 287, sendfile 40 71, splice 275 76
tee 276 77, copy_file_range 326 285, dup 32 23, dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59
stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, access 21 -
faccessat 269 48, faccessat2 439 439, getdents 78 -, getdents64 217 61, getcwd 79 17
chdir 80 49, fchdir 81 50, rename 82 -, renameat 264 38, renameat2 316 276, mkdir 83 -
mkdirat 258 34, rmdir 84 -, link 86 -, linkat 265 37, unlink 87 -, unlinkat 263 35
symlink 88 -, symlinkat 266 36, readlink 89 -, readlinkat 267 78, chmod 90 -, fchmod 91 52
fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54
umask 95 166, statfs 137 43, fstatfs 138 44, utime 132 -, utimes 235 -, futimesat 261 -
utimensat 280 88, truncate 76 45, ftruncate 77 46, fallocate 285 47, fadvise64 221 223
readahead 187 213, fsync 74 82, fdatasync 75 83, sync_file_range 277 84, flock 73 32
getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12
flistxattr 196 13

brk 12 214, mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, msync 26 227
mincore 27 232, madvise 28 233, mlock 149 228, mlock2 325 284, munlock 150 229
munlockall 152 231

poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -
eventfd2 290 19, signalfd 282 -, signalfd4 289 74, timerfd_create 283 85
timerfd_settime 286 86, timerfd_gettime 287 87

fork 57 -, vfork 58 -, clone 56 220, execve 59 221, execveat 322 281, exit 60 93
exit_group 231 94, wait4 61 260, waitid 247 95, getpid 39 172, getppid 110 173, gettid 186 178
getpgid 121 155, setpgid 109 154, getpgrp 111 -, getsid 124 156, setsid 112 157
set_tid_address 218 96, set_robust_list 273 99, rseq 334 293, futex 202 98
membarrier 324 283, arch_prctl 158 -, prctl 157 167, pidfd_open 434 434
pidfd_send_signal 424 424, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177
getresuid 118 148, getresgid 120 150, getgroups 115 158, setuid 105 146, setgid 106 144
setreuid 113 145, setregid 114 143, setresuid 117 147, setresgid 119 149, setfsuid 122 151
setfsgid 123 152, setgroups 116 159, capget 125 90, capset 126 91

kill 62 129, tkill 200 130, tgkill 234 131, rt_sigaction 13 134, rt_sigprocmask 14 135
rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigsuspend 130 133
rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, sigaltstack 131 132, pause 34 -
restart_syscall 219 128, alarm 37 -, getitimer 36 102, setitimer 38 103, timer_create 222 107
timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111

time 201 -, gettimeofday 96 169, clock_gettime 228 113, clock_getres 229 114
clock_nanosleep 230 115, nanosleep 35 101, times 100 153, getrusage 98 165, sysinfo 99 179
uname 63 160, getrandom 318 278, getcpu 309 168, getrlimit 97 163, setrlimit 160 164
prlimit64 302 261, getpriority 140 141, setpriority 141 140, personality 135 92
sched_yield 24 124, sched_getaffinity 204 123, sched_setaffinity 203 122
sched_getparam 143 121, sched_getscheduler 145 120, sched_get_priority_max 146 125
sched_get_priority_min 147 126, sched_rr_get_interval 148 127

socket 41 198, socketpair 53 199, bind 49 200, listen 50 201, accept 43 202, accept4 288 242
connect 42 203, getsockname 51 204, getpeername 52 205, sendto 44 206, recvfrom 45 207
sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269, recvmmsg 299 243, shutdown 48 210
setsockopt 54 208, getsockopt 55 209

ioctl 16 29, fcntl 72 25, mknod 133 -, mknodat 259 33, setxattr 188 5, lsetxattr 189 6
fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16
"""


# What a slot needs beside: for each job a file system, and the child's last steps.
_SLOT = "mount 165 40, umount2 166 39, seccomp 317 277, landlock_restrict_self 446 446"


class Test(NamedTuple):
    """Holds if the low half of argument `arg`, under `mask`, is one of `values`."""

    arg: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF


class Rule(NamedTuple):
    """The call is allowed if all tests of one of `ways` hold; if those of one of `ignored`
    do it is answered 0 and not done; else it is answered `error`."""

    error: int
    ways: tuple[tuple[Test, ...], ...] = ()
    ignored: tuple[tuple[Test, ...], ...] = ()


# CLONE_NEW*: namespaces. CLONE_PARENT: a brother, whose end the job's watcher would take for the
# job's. CLONE_PTRACE: traced from birth. clone(2); CLONE_NEWTIME exists in clone3 and unshare alone.
_CLONE = 0x7E020000 | 0x00008000 | 0x00002000
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_STREAM, _DGRAM, _SEQPACKET, _TYPE_MASK = 1, 2, 5, 0xF  # the rest of socket(2)'s type are flags

# PDEATHSIG, DUMPABLE, GET_KEEPCAPS, NAME, GET_SECCOMP, CAPBSET, GET_SECUREBITS, TIMERSLACK,
# NO_NEW_PRIVS, THP_DISABLE, vector length of Arm, GET_SPECULATION_CTRL, pointer keys and tags of Arm.
# Not SECCOMP (filters with a listener), MM, PTRACER, names of memory areas, SCHED_CORE. prctl(2)
_PRCTL_OPTIONS = (
    *(1, 2, 3, 4, 7, 15, 16, 21, 23, 24, 27, 29, 30),
    *(38, 39, 41, 42, 50, 51, 52, 54, 55, 56, 63, 64),
)

# Terminals as isatty, getpass and pty use them; not TIOCSTI and TIOCLINUX, which type into another's,
# nor line disciplines. Then FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, FIOQSIZE, FICLONE. ioctl_tty(2).
# What is missing gets the answer of a device that does not know it.
_IOCTL_REQUESTS = (
    *(0x5401, 0x5402, 0x5403, 0x5404, 0x5405, 0x5409, 0x540A, 0x540B),
    *(0x540E, 0x540F, 0x5410, 0x5411, 0x5413, 0x5414, 0x5422, 0x5429),
    *(0x80045430, 0x40045431, 0x80045432, 0x5441, 0x802C542A),
    *(0x541B, 0x5421, 0x5450, 0x5451, 0x5460, 0x40049409),
)

_RULES = {
    "clone": Rule(errno.EPERM, ((Test(0, (0,), _CLONE),),)),
    # Not MADV_MERGEABLE (a side channel to who else has the page), not MADV_PAGEOUT (hides memory
    # from those who watch its resident size), not MADV_HWPOISON. madvise(2)
    "madvise": Rule(
        errno.EINVAL,
        ((Test(2, (0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 20, 22, 23, 25)),),),
    ),
    # For the caller alone: process 1 of the sandbox, which later jobs need, is of the same user.
    "prlimit64": Rule(errno.EPERM, ((Test(0, (0,)),),)),
    "sched_setaffinity": Rule(errno.EPERM, ((Test(0, (0,)),),)),
    "setpriority": Rule(errno.EPERM, ((Test(0, (0,)), Test(1, (0,))),)),
    # Query, and the default. personality(2)
    "personality": Rule(errno.EPERM, ((Test(0, (0, 0xFFFFFFFF)),),)),
    "prctl": Rule(errno.EINVAL, ((Test(0, _PRCTL_OPTIONS),),)),
    # DUPFD, GETFD, SETFD, GETFL, SETFL, locks, GETOWN, DUPFD_CLOEXEC and _QUERY, GETPIPE_SZ, seals.
    # Not SETPIPE_SZ (kernel memory), NOTIFY and SETLEASE (who opens shared files), SETOWN and
    # SETSIG (signals on another's behalf). fcntl(2)
    "fcntl": Rule(
        errno.EINVAL,
        ((Test(1, (0, 1, 2, 3, 4, 5, 6, 7, 9, 36, 37, 38, 1027, 1030, 1032, 1033, 1034)),),),
    ),
    "ioctl": Rule(errno.ENOTTY, ((Test(1, _IOCTL_REQUESTS),),)),
    # Plain files, pipes and sockets; no devices. mknod(2)
    "mknod": Rule(errno.EPERM, ((Test(1, (0, 0x1000, 0x8000, 0xC000), 0xF000),),)),
    "mknodat": Rule(errno.EPERM, ((Test(2, (0, 0x1000, 0x8000, 0xC000), 0xF000),),)),
    # Extended attributes are kernel memory that a tmpfs counts badly; cp and shutil cope. xattr(7)
    **{
        f"{kind}{name}": Rule(errno.EOPNOTSUPP)
        for kind in ("", "l", "f")
        for name in ("setxattr", "removexattr")
    },
    "socketpair": Rule(
        errno.EAFNOSUPPORT,
        ((Test(0, (_AF_UNIX,)), Test(1, (_STREAM, _DGRAM, _SEQPACKET), _TYPE_MASK)),),
    ),
    # Common options of socket(7), ip(7), ipv6(7), tcp(7). Not filters (SO_ATTACH_*), SO_ZEROCOPY,
    # upper protocols (TCP_ULP), encapsulation (UDP_ENCAP), address tables. Sizes of buffers stay as
    # they are, since nothing but a control group counts what lies in them; the kernel too takes a
    # size as a wish.
    "setsockopt": Rule(
        errno.ENOPROTOOPT,
        (
            (Test(1, (1,)), Test(2, (*range(2, 7), 9, 10, 12, 13, 15, 16, 18, 19, 20, 21, 29))),
            (Test(1, (0,)), Test(2, (1, 2, 6, 8, 10, 11, 12, 13, 15, 24, 32, 33, 34, 35, 36))),
            (Test(1, (6,)), Test(2, (*range(1, 11), 12, 18, 23, 25))),
            (Test(1, (41,)), Test(2, (16, 17, 18, 19, 20, 21, 23, 25, 26, 49, 51, 66, 67))),
        ),
        ignored=((Test(1, (1,)), Test(2, (7, 8))),),
    ),
}


_MAP_SHARED, _MAP_ANONYMOUS, _MAP_HUGETLB = 0x01, 0x20, 0x40000


def _mmap_rule(shared: bool) -> Rule:
    # MAP_HUGETLB draws on a pool of the whole host that no memory limit counts. Shared memory without
    # a file stays when most of it is unmapped, and then only a control group counts it. mmap(2)
    if shared:
        return Rule(errno.ENOMEM, ((Test(3, (0,), _MAP_HUGETLB),),))
    kinds = (0, _MAP_SHARED, _MAP_ANONYMOUS)
    way = (Test(3, kinds, _MAP_HUGETLB | _MAP_SHARED | _MAP_ANONYMOUS),)
    return Rule(errno.ENOMEM, (way,))


def _socket_rule(unix: bool, inet: bool) -> Rule:
    # Streams and datagrams of the local, IPv4 and IPv6 families. Not netlink, packet, raw, vsock,
    # alg and the many rare families and protocols behind which most holes were. socket(2)
    ways = list[tuple[Test, ...]]()
    if unix:
        ways.append((Test(0, (_AF_UNIX,)), Test(1, (_STREAM, _DGRAM, _SEQPACKET), _TYPE_MASK)))
    if inet:
        family = Test(0, (_AF_INET, _AF_INET6))
        ways.append((family, Test(1, (_STREAM,), _TYPE_MASK), Test(2, (0, 6))))
        ways.append((family, Test(1, (_DGRAM,), _TYPE_MASK), Test(2, (0, 17))))
    return Rule(errno.EAFNOSUPPORT, tuple(ways))


def _rules(unix: bool, inet: bool, shared: bool) -> dict[str, Rule]:
    return {**_RULES, "mmap": _mmap_rule(shared), "socket": _socket_rule(unix, inet)}


# <linux/audit.h>
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32 = 0x40000000

# <linux/filter.h>, <linux/seccomp.h>
_LOAD, _AND, _JUMP, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

_PR_SET_NO_NEW_PRIVS, _SECCOMP_SET_MODE_FILTER = 38, 1

_Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand
_LET: _Instruction = (_RETURN, 0, 0, _ALLOW)
_NOTHING: _Instruction = (_RETURN, 0, 0, _ERRNO)
_UNKNOWN: _Instruction = (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)
_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def allowed(machine: str | None = None) -> dict[str, int]:
    """Return the numbers of the calls that are let through at all, by name, on `machine` (default: this one)."""
    return _numbers(_ALLOWED, machine)


def _numbers(table: str, machine: str | None) -> dict[str, int]:
    column, _ = _machine(machine)
    rows = (row.split() for line in table.splitlines() for row in line.split(",") if row)
    return {name: int(number[column]) for name, *number in rows if number[column] != "-"}


def closing_filter(machine: str | None = None) -> bytes:
    """Return a filter that makes an active `job_filter(slot=True)` as strict as `job_filter()`.

    The kernel takes about 0.3 ms to install a filter, since it checks every call; a filter that only
    closes the calls that another left open costs a tenth of that.
    """
    closed = sorted(_numbers(_SLOT, machine).values())
    steps = [(_IF_EQUAL, len(closed) - at, 0, number) for at, number in enumerate(closed)]
    program: list[_Instruction] = [(_LOAD, 0, 0, _NUMBER), *steps, _LET, _UNKNOWN]
    return b"".join(struct.pack("<HBBI", *step) for step in program)


def job_filter(
    *,
    unix: bool = True,
    inet: bool = True,
    shared: bool = True,
    slot: bool = False,
    machine: str | None = None,
) -> bytes:
    """Return the filter program for `machine` (default: this one), to be given to `install`.

    `slot` leaves open what the process needs that prepares jobs: they go on to `closing_filter`.
    `unix` and `inet` let the job make sockets of these families: leave out those that no namespace
    and no Landlock rule keeps from the host's. `socketpair` works always. `shared` lets it have shared
    memory without a file: leave it out where no control group counts memory (Python's
    `mmap.mmap(-1, n)` then wants `flags=mmap.MAP_PRIVATE`).
    Raises OSError (ENOTSUP) for a machine other than x86_64 and aarch64.
    """
    _, architecture = _machine(machine)
    rules = _rules(unix, inet, shared)
    known = {**allowed(machine), **(_numbers(_SLOT, machine) if slot else {})}
    names = {number: name for name, number in known.items()}
    actions = [_action(names.get(number), rules) for number in range(max(names) + 2)]
    # From this number on, up to the next edge.
    edges = [(at, what) for at, what in enumerate(actions) if not at or what != actions[at - 1]]

    tree = _tree(edges)
    starts, blocks = {}, list[_Instruction]()
    for name, rule in rules.items():
        starts[name] = len(tree) + len(blocks)
        blocks += _block(rule)
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
        # Also the numbers of x32 on x86_64, which come with the same architecture.
        (_IF_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL_PROCESS),
    ]
    for at, step in enumerate(tree):
        program.append((_JUMP, 0, 0, starts[step] - at - 1) if isinstance(step, str) else step)
    return b"".join(struct.pack("<HBBI", *step) for step in program + blocks)


def install(program: bytes) -> None:
    """Put the calling thread and all that it starts under `program`, for good.

    Sets no_new_privs, without which the kernel asks for a capability. Raises OSError.
    """
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise _error("no_new_privs")
    enter(prepare(program))


Prepared = tuple[int, object]
"""A program as the kernel takes it: the number of the call, and a pointer that keeps all it needs."""


def prepare(program: bytes) -> Prepared:
    """Return `program` in the form that `enter` takes, prepared once for many processes."""
    buffer = ctypes.create_string_buffer(program, len(program))
    filled = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    return {"x86_64": 317, "aarch64": 277}[os.uname().machine], ctypes.pointer(filled)


def enter(prepared: Prepared) -> None:
    """Put the calling thread under a program; wants no_new_privs. Raises OSError."""
    if _libc.syscall(prepared[0], _SECCOMP_SET_MODE_FILTER, 0, prepared[1]):
        raise _error("seccomp")


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _machine(machine: str | None) -> tuple[int, int]:
    machine = machine or os.uname().machine
    if machine not in _MACHINES:
        raise OSError(errno.ENOTSUP, f"no system call filter for {machine}, only {[*_MACHINES]}")
    return _MACHINES[machine]


def _action(name: str | None, rules: dict[str, Rule]) -> str | _Instruction:
    if name is None:
        return _UNKNOWN
    return name if name in rules else _LET


def _tree(edges: list[tuple[int, str | _Instruction]]) -> list[str | _Instruction]:
    """A binary search for what to do with a number; a text stands for the jump to a rule's block.

    The kernel tries every number when it takes a filter, to answer the plain ones without running it:
    a list of comparisons in place of the tree costs each job a millisecond more.
    """
    if len(edges) == 1:
        return [edges[0][1]]
    middle = len(edges) // 2
    below, above = _tree(edges[:middle]), _tree(edges[middle:])
    # A conditional jump spans at most 255 steps; the tree of some 150 ranges stays within.
    return [(_IF_AT_LEAST, len(below), 0, edges[middle][0]), *below, *above]


def _block(rule: Rule) -> list[_Instruction]:
    steps = list[_Instruction]()
    answers = [(way, _LET) for way in rule.ways] + [(way, _NOTHING) for way in rule.ignored]
    for way, answer in answers:
        tests = list[_Instruction]()
        for test in reversed(way):
            # To the answer on a match after the last test, else on to the next test; past the
            # answer when no value matches.
            following = len(tests)
            load: list[_Instruction] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * test.arg)]
            if test.mask != 0xFFFFFFFF:
                load.append((_AND, 0, 0, test.mask))
            compare = [
                (_IF_EQUAL, len(test.values) - index, 0, value)
                for index, value in enumerate(test.values)
            ]
            tests = [*load, *compare, (_JUMP, 0, 0, following + 1), *tests]
        steps += [*tests, answer]
    return [*steps, (_RETURN, 0, 0, _ERRNO | rule.error)]
