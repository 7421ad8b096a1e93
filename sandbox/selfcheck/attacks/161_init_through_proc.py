# attack: init_through_proc
# threat: fs
# expect: CONTAINED: nothing of pid 1 or the parent can be entered or read through /proc
import os
bad = []
for pid in {1, os.getppid()} - {0}:
    base = "/proc/%d/" % pid
    for name in ("root", "cwd", "exe", "ns/mnt", "ns/user", "ns/net", "ns/pid"):
        try:
            os.readlink(base + name)
            bad.append(name)
        except OSError:
            pass
    for name in ("root/", "root/root", "root/home", "cwd/", "fd", "fdinfo", "map_files", "task/%d/root/" % pid):
        try:
            os.listdir(base + name)
            bad.append(name)
        except OSError:
            pass
    for name in ("environ", "auxv", "maps", "smaps", "mem", "stack", "syscall", "pagemap", "root/etc/passwd", "io", "personality", "clear_refs"):
        try:
            with open(base + name, "rb") as file:
                file.read(1)
            bad.append(name)
        except OSError:
            pass
print("ESCAPED" if bad else "CONTAINED", bad)
