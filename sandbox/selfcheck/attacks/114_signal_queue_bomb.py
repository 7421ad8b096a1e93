# attack: signal_queue_bomb
# threat: per-uid kernel quotas
# expect: CONTAINED: queued signals are bounded, and no other job misses them
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
n = 0
while n < 1000000:
    if libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), ctypes.c_void_p(n)) < 0:
        break
    n += 1
print("ESCAPED" if n >= 1000000 else "CONTAINED", n, "queued, errno", ctypes.get_errno())
