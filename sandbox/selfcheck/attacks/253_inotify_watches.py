# attack: inotify_watches
# threat: per-uid kernel quotas
# expect: CONTAINED: watches are counted for this job alone, so that the next can still make one
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
fds = []
while len(fds) < 5000:
    fd = libc.inotify_init1(0)
    if fd < 0:
        break
    fds.append(fd)
watches = 0
for folder, _, names in os.walk("/usr"):
    if fds and libc.inotify_add_watch(fds[0], folder.encode(), 0xFFF) < 0:
        break
    watches += 1
    if watches > 100000:
        break
print("CONTAINED" if len(fds) < 5000 else "ESCAPED", len(fds), "instances", watches, "watches")
# then: its successor makes one
import ctypes
fd = ctypes.CDLL(None, use_errno=True).inotify_init1(0)
print("CONTAINED" if fd >= 0 or ctypes.get_errno() != 24 else "ESCAPED the quota is used up", fd)
