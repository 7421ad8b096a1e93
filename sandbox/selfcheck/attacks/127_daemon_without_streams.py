# attack: daemon_without_streams
# threat: lifetime
# expect: CONTAINED: verdict within 1000 ms after main exit, and the daemon is dead
# oracle: no process is left 1 s after the verdict
import os, signal, time
for n in set(range(1, 65)) - {signal.SIGCHLD}:
    try:
        signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError, RuntimeError):
        pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        os.umask(0)
        os.closerange(0, 1024)
        time.sleep(600)
    os._exit(0)
os.wait()
