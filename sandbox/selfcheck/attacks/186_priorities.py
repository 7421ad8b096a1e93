# attack: priorities
# threat: process
# expect: CONTAINED: no priority above its own, and no hold on another process's priority or processors
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
ok = []
try:
    os.nice(-5)
    ok.append("nice -5")
except OSError:
    pass
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    try:
        os.sched_setscheduler(0, policy, os.sched_param(1))
        ok.append("real time")
    except OSError:
        pass
if libc.syscall(251, 1, 0, 1 << 13) == 0:
    ok.append("real-time input and output")
for pid in {1, os.getppid()} - {0}:
    for name, call in (
        ("setpriority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)), ("group", lambda: os.setpriority(os.PRIO_PGRP, os.getpgid(pid), 19)),
        ("affinity", lambda: os.sched_setaffinity(pid, {0})), ("policy", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))),
    ):
        try:
            call()
            ok.append((pid, name))
        except OSError:
            pass
    if libc.syscall(251, 1, pid, 3 << 13) == 0:
        ok.append((pid, "ioprio"))
print("ESCAPED" if ok else "CONTAINED", ok)
