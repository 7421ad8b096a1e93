# attack: epoll_bomb
# threat: per-uid kernel quotas
# expect: CONTAINED: watches are bounded by descriptors, or counted for this job alone
import os, select
n, kept = 0, []
try:
    while n < 100000:
        watcher = select.epoll()
        kept.append(watcher)
        for fd in range(3, 60):
            try:
                watcher.register(fd, select.EPOLLIN)
                n += 1
            except OSError as e:
                if e.errno not in (9, 17, 22, 40):
                    raise
    print("ESCAPED", n, "watches")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", n, "watches")
