# attack: oom_score
# threat: process
# expect: CONTAINED: it cannot make itself the last to be killed for memory, nor others the first
import os
ok = []
try:
    before = int(open("/proc/self/oom_score_adj").read())
    for value in (-1000, -999, -1, min(before, 0) - 1):
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(str(value))
            ok.append(value)
        except OSError:
            pass
except OSError:
    pass
for pid in {1, os.getppid()} - {0}:
    try:
        with open("/proc/%d/oom_score_adj" % pid, "w") as file:
            file.write("1000")
        ok.append(pid)
    except OSError:
        pass
print("ESCAPED" if ok else "CONTAINED", ok)
