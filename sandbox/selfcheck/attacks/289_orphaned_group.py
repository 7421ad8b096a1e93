# attack: orphaned_group
# threat: process
# expect: CONTAINED: hang-ups, stops and continues of orphaned process groups reach only the job's own
import os, signal, time
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    time.sleep(0.1)
    os._exit(0)
time.sleep(0.3)
for number in (signal.SIGHUP, signal.SIGCONT, signal.SIGTSTP, signal.SIGTTIN):
    for target in (0, -1):
        signal.signal(number, signal.SIG_IGN) if number not in (signal.SIGSTOP,) else None
        try:
            os.kill(target, number)
        except OSError:
            pass
print("done", flush=True)
