# attack: pidfd_tricks
# threat: process
# expect: CONTAINED: descriptors of processes give no hold on another one
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
ok = []
for pid in {1, os.getppid()} - {0}:
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        continue
    for name, call in (
        ("getfd 0", (438, fd, 0, 0)), ("getfd 3", (438, fd, 3, 0)), ("getfd 5", (438, fd, 5, 0)), ("setns", (308, fd, 0x10000000)), ("setns mnt", (308, fd, 0x20000)),
        ("setns net", (308, fd, 0x40000000)), ("process_madvise", (440, fd, None, 0, 4, 0)), ("mrelease", (448, fd, 0)),
    ):
        result = libc.syscall(*call)
        if result >= 0 and name != "process_madvise":
            ok.append((pid, name))
    libc.syscall(424, fd, int(signal.SIGSTOP), None, 0)
    libc.syscall(424, fd, int(signal.SIGTERM), None, 0)
print("ESCAPED" if ok else "CONTAINED", ok)
