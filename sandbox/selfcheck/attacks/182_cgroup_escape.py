# attack: cgroup_escape
# threat: privilege
# expect: CONTAINED: no control group can be entered, made, changed or mounted
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
bad = []
tops = {"/sys/fs/cgroup", "/cgroup", "/proc/1/root/sys/fs/cgroup"}
try:
    for line in open("/proc/self/mountinfo"):
        fields = line.split()
        if fields[fields.index("-") + 1].startswith("cgroup"):
            tops.add(fields[4])
except OSError:
    pass
for top in tops:
    for folder, _, names in os.walk(top):
        try:
            os.mkdir(folder + "/sbx_escape")
            bad.append(folder)
            os.rmdir(folder + "/sbx_escape")
        except OSError:
            pass
        for name in names:
            if name in ("cgroup.procs", "tasks", "release_agent", "notify_on_release", "memory.max", "memory.limit_in_bytes", "pids.max", "devices.allow", "cgroup.kill", "cgroup.freeze"):
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
                    bad.append(os.path.join(folder, name))
                except OSError:
                    pass
os.makedirs("/tmp/cg", exist_ok=True)
for kind, data in ((b"cgroup", b"rdma"), (b"cgroup", b"memory"), (b"cgroup2", None)):
    if libc.mount(b"cgroup", b"/tmp/cg", kind, 0, data) == 0:
        bad.append(kind)
print("ESCAPED" if bad else "CONTAINED", bad[:6])
