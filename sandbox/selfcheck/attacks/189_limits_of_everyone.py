# attack: limits_of_everyone
# threat: process
# expect: CONTAINED: prlimit on any other process is refused
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
new, old, ok = (ctypes.c_uint64 * 2)(1, 1), (ctypes.c_uint64 * 2)(), []
for pid in [*range(1, 300), os.getppid()]:
    if pid == os.getpid():
        continue
    for resource in (0, 6, 7, 9):
        if libc.syscall(302, pid, resource, new, None) == 0:
            ok.append((pid, resource))
        if libc.syscall(302, pid, resource, None, old) == 0:
            ok.append((pid, resource, "read"))
print("ESCAPED" if ok else "CONTAINED", ok[:6])
