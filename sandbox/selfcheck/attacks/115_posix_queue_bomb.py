# attack: posix_queue_bomb
# threat: memory
# expect: CONTAINED: POSIX message queues are refused or bounded
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
class Attr(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("flags", "maxmsg", "msgsize", "curmsgs", "a", "b", "c", "d")]
n = 0
for k in range(500):
    attr = Attr(0, 10, 8192)
    fd = libc.syscall(240, b"queue%d" % k, 0o102, 0o600, ctypes.byref(attr))
    if fd < 0:
        break
    for _ in range(10):
        libc.mq_send(fd, b"x" * 8192, 8192, 0)
    n += 1
    if n % 50 == 0:
        import os
        os.closerange(3, 60)
print("ESCAPED" if n >= 500 else "CONTAINED", n, "queues, errno", ctypes.get_errno())
