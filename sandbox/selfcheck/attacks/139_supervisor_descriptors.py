# attack: supervisor_descriptors
# threat: privilege
# expect: CONTAINED: no descriptor of another process can be opened through /proc
import os
bad = []
me = os.getpid()
for pid in {1, os.getppid(), *(int(n) for n in os.listdir("/proc") if n.isdigit())} - {0, me}:
    for fd in range(64):
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
            try:
                os.close(os.open("/proc/%d/fd/%d" % (pid, fd), flags | os.O_NONBLOCK))
                bad.append((pid, fd, flags))
            except OSError:
                pass
print("ESCAPED" if bad else "CONTAINED", bad[:8])
