# attack: own_process_group
# threat: process
# expect: CONTAINED: the job shares its process group and session with nobody
# status: signal
import os, signal
for pid in (os.getppid(), 1):
    try:
        group = os.getpgid(pid)
        if group > 0 and group != os.getpgrp():
            try:
                os.setpgid(0, group)
                print("ESCAPED joined the group of", pid, flush=True)
            except OSError:
                pass
            try:
                os.killpg(group, signal.SIGTERM)
            except OSError:
                pass
    except OSError:
        pass
os.kill(0, signal.SIGKILL)
