# attack: timer_bomb
# threat: per-uid kernel quotas
# expect: CONTAINED: POSIX timers are bounded (they count as pending signals)
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
n, timer = 0, ctypes.c_void_p()
while n < 300000:
    if libc.syscall(222, 1, None, ctypes.byref(timer)) < 0:
        break
    n += 1
print("ESCAPED" if n >= 300000 else "CONTAINED", n, "timers, errno", ctypes.get_errno())
