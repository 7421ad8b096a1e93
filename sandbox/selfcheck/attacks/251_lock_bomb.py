# attack: lock_bomb
# threat: memory
# expect: CONTAINED: locks on single bytes of a file fill the kernel's memory no further than the job's limit
# status: time_limit, memory_limit, ok, nonzero_exit, signal
# wall: 3
import fcntl, os
fd = os.open("/tmp/locked", os.O_CREAT | os.O_RDWR)
n = 0
try:
    while n < 5000000:
        fcntl.lockf(fd, fcntl.LOCK_EX, 1, 2 * n)
        n += 1
    print("ESCAPED", n, "locks")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", n)
