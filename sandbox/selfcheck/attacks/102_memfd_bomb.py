# attack: memfd_bomb
# threat: memory
# expect: CONTAINED: memfds are refused, or their pages count against the job although no process maps them
import os
total, kept = 0, []
try:
    for n in range(60):
        fd = os.memfd_create("m%d" % n)
        kept.append(fd)
        for _ in range(30):
            total += os.write(fd, b"x" * (1 << 20))
    print("ESCAPED", total >> 20, "MiB in memfds")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", total >> 20, "MiB")
