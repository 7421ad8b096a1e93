# attack: renames_threads
# threat: info
# expect: CONTAINED: names of its processes that look like the supervisor's are only names
import ctypes, os, time
libc = ctypes.CDLL(None)
for name in (b"verigym", b"systemd", b"init", b"python3.11", b"slot", b"zygote"):
    if os.fork() == 0:
        libc.prctl(15, name, *map(ctypes.c_ulong, (0, 0, 0)))
        os.setsid()
        time.sleep(600)
print("main done", flush=True)
os._exit(0)
