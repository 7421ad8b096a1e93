# attack: pid_churn
# threat: pids
# expect: CONTAINED: going through process numbers as fast as it can brings it no signal to another's process
# wall: 3
import os, time
first = os.getpid()
end = time.monotonic() + 1.5
n = last = 0
while time.monotonic() < end:
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    n, last = n + 1, pid
print("CONTAINED", n, "processes, numbers", first, "to", last)
