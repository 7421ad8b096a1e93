# attack: sees_other_processes
# threat: info
# expect: CONTAINED: /proc shows the job's own processes and its init, no other
import os
mine = {os.getpid(), os.getppid(), 1}
other = []
for name in os.listdir("/proc"):
    if name.isdigit() and int(name) not in mine:
        try:
            other.append((int(name), open("/proc/%s/comm" % name).read().strip()))
        except OSError:
            other.append((int(name), "?"))
for pid in range(2, 2000):
    if pid in mine or any(pid == p for p, _ in other):
        continue
    try:
        os.kill(pid, 0)
        other.append((pid, "kill 0"))
    except ProcessLookupError:
        pass
    except OSError:
        other.append((pid, "is there"))
other = [o for o in other if not os.path.exists("/proc/self/task/%d" % o[0])]
print("ESCAPED" if other else "CONTAINED", len(other), other[:8])
