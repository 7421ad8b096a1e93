# attack: leaves_state
# threat: lifetime
# expect: CONTAINED: masks, timers, priorities, limits and names of one job are not the next one's
import ctypes, os, resource, signal
libc = ctypes.CDLL(None)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
os.umask(0o777)
os.nice(10)
signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
for name in ("NOFILE", "FSIZE", "STACK", "NPROC", "CPU", "AS"):
    number = getattr(resource, "RLIMIT_" + name)
    soft, hard = resource.getrlimit(number)
    try:
        resource.setrlimit(number, (soft, max(1, soft) if soft > 0 else hard))
    except (OSError, ValueError):
        pass
libc.prctl(15, b"renamed", *map(ctypes.c_ulong, (0, 0, 0)))
libc.prctl(4, *map(ctypes.c_ulong, (0, 0, 0, 0)))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print("left", flush=True)
