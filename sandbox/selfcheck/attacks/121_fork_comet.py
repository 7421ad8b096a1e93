# attack: fork_comet
# threat: lifetime
# expect: CONTAINED: a process that forks and dies again and again is not outrun: all of it ends with the job
# oracle: no process is left 1 s after the verdict
import os
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            if os.fork() != 0:
                os._exit(0)
        except OSError:
            pass
print("main done", flush=True)
os._exit(0)
