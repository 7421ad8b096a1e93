# attack: stopped_grandchild
# threat: lifetime
# expect: CONTAINED: a stopped process of another session does not outlive the job
# oracle: no process is left 1 s after the verdict
import os, signal
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os._exit(0)
os.wait()
print("main done", flush=True)
