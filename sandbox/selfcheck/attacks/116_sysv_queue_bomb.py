# attack: sysv_queue_bomb
# threat: memory
# expect: CONTAINED: System V queues and semaphores are refused, or bounded and gone with the job
# oracle: ipcs on the host shows none afterwards
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
total = 0
buffer = ctypes.create_string_buffer(b"\1" + b"\0" * 7 + b"x" * 8000)
for k in range(20000):
    queue = libc.msgget(0, 0o1600)
    if queue < 0:
        break
    while libc.msgsnd(queue, buffer, ctypes.c_size_t(8000), 0o4000) == 0:
        total += 8000
semaphores = 0
while semaphores < 20000 and libc.semget(0, 250, 0o1600) >= 0:
    semaphores += 1
bad = total > 64 << 20 or semaphores > 2000
print("ESCAPED" if bad else "CONTAINED", total >> 20, "MiB of messages,", semaphores, "sets of semaphores")
