# attack: proc_self_tricks
# threat: settings
# expect: CONTAINED: writable files of the job's own /proc (oom_score_adj, timens_offsets, uid_map, setgroups, loginuid, attr, sched, autogroup, clear_refs, coredump_filter, projid_map) change nothing beyond it and nothing for the next job
import os
ok = []
for name, text in (("oom_score_adj", "-1000"), ("oom_adj", "-17"), ("timens_offsets", "monotonic 100 0"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1"), ("projid_map", "0 0 1"), ("setgroups", "allow"), ("loginuid", "0"), ("attr/current", "x"), ("attr/exec", "unconfined"), ("sched", "0"), ("autogroup", "-20"), ("latency", "erase"), ("make-it-fail", "1"), ("fail-nth", "1"), ("comm", "verigym"), ("clear_refs", "1"), ("coredump_filter", "ff"), ("timerslack_ns", "1"), ("mem", "")):
    for base in ("/proc/self/", "/proc/1/", "/proc/thread-self/"):
        try:
            with open(base + name, "w") as f: f.write(text)
            ok.append(base + name)
        except OSError: pass
mine = [p for p in ok if "/1/" in p or p.endswith(("oom_score_adj", "oom_adj", "timens_offsets", "_map", "setgroups", "attr/current", "attr/exec", "autogroup"))]
score = int(open("/proc/self/oom_score_adj").read())
print("ESCAPED" if [p for p in mine if not p.endswith(("oom_score_adj", "oom_adj"))] or score < 1000 else "CONTAINED", score, ok)
