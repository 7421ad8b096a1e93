# attack: unwaited_cpu
# threat: cpu
# expect: CONTAINED: processor time of children that nobody waits for, since SIGCHLD is ignored, counts as well
# cpu: 0.5
# wall: 10
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
end = time.time() + 9
f = os.open("/tmp/n", os.O_CREAT | os.O_RDWR | os.O_APPEND)
while time.time() < end:
    try:
        if os.fork() == 0:
            t = time.process_time() + 0.02
            while time.process_time() < t: pass
            os.write(f, b"x"); os._exit(0)
    except OSError: time.sleep(0.002)
    burnt = os.fstat(f).st_size * 0.02
    if burnt > 0.8: print("ESCAPED burnt", burnt, "s of 0.5 s", flush=True); os._exit(0)
print("CONTAINED burnt", burnt)
