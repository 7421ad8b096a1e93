# attack: leaves_shared_memory
# threat: lifetime
# expect: CONTAINED: shared memory, semaphores and queues end with the job
# oracle: ipcs on the host shows none afterwards
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.shmget(0x5B5, 4096, 0o1666), libc.semget(0x5B5, 1, 0o1666), libc.msgget(0x5B5, 0o1666))
print(libc.syscall(240, b"left", 0o102, 0o666, None))
open("/dev/shm/left", "w").write("left")
# then: its successor looks for them
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
found = [name for name, call in (("shm", lambda: libc.shmget(0x5B5, 0, 0)), ("sem", lambda: libc.semget(0x5B5, 0, 0)), ("msg", lambda: libc.msgget(0x5B5, 0)), ("mq", lambda: libc.syscall(240, b"left", 0, 0, None))) if call() >= 0]
if os.path.exists("/dev/shm/left"):
    found.append("/dev/shm/left")
print("ESCAPED" if found else "CONTAINED", found)
