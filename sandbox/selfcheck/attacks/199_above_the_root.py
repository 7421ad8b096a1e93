# attack: above_the_root
# threat: fs
# expect: CONTAINED: there is nothing above the root, by name, by descriptor or through /proc
import os
top = os.stat("/")
bad = []
for path in ("/..", "/../..", "/proc/self/root/..", "/proc/self/cwd/../../../..", "/proc/self/task/%d/root/.." % os.getpid(), "/tmp/../../..", "/dev/fd/../../../.."):
    try:
        found = os.stat(path)
        names = set(os.listdir(path))
        if "vmlinuz" in names or "lost+found" in names or "boot" in names and os.listdir(path + "/boot"):
            bad.append(path)
    except OSError:
        pass
fd = os.open("/", os.O_RDONLY)
for _ in range(20):
    fd = os.open("..", os.O_RDONLY, dir_fd=fd)
here = os.fstat(fd)
if (here.st_dev, here.st_ino) != (top.st_dev, top.st_ino):
    bad.append("..")
print("ESCAPED" if bad else "CONTAINED", bad)
