# attack: own_subreaper
# threat: lifetime
# expect: CONTAINED: a subreaper of the job's own does not keep orphans from being killed
# oracle: no process is left 1 s after the verdict
import ctypes, os, time
ctypes.CDLL(None).prctl(36, *map(ctypes.c_ulong, (1, 0, 0, 0)))
if os.fork() == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(36, *map(ctypes.c_ulong, (1, 0, 0, 0)))
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
    time.sleep(600)
print("main done", flush=True)
os._exit(0)
