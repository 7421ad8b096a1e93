# attack: links_through_proc
# threat: fs
# expect: CONTAINED: no hard link, rename or exchange through descriptors under /proc reaches beyond the job's own file system
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
bad = []
src = os.open("/usr/bin/env", os.O_PATH)
d = os.open("/usr/lib", os.O_RDONLY | os.O_DIRECTORY)
def tryit(what, r):
    if r == 0: bad.append(what)
tryit("empty path link", libc.linkat(src, b"", -100, b"/tmp/l1", 0x1000))
tryit("magic link", libc.linkat(-100, b"/proc/self/fd/%d" % src, -100, b"/tmp/l2", 0x400))
open("/tmp/mine", "w").write("x")
tryit("rename out", libc.renameat2(-100, b"/tmp/mine", d, b"mine", 0))
tryit("exchange", libc.renameat2(-100, b"/tmp/mine", -100, b"/proc/self/root/usr/bin/env", 2))
tryit("whiteout", libc.renameat2(-100, b"/tmp/mine", -100, b"/tmp/mine2", 4))
for p in ("/proc/self/root/../../x", "/proc/self/cwd/../../x", "/proc/thread-self/root/etc/x", "/proc/self/task/../../1/root/etc/x"):
    try: open(p, "w"); bad.append(p)
    except OSError: pass
if os.path.exists("/tmp/mine2"): bad = [b for b in bad if b != "whiteout"]
print("ESCAPED" if bad else "CONTAINED", bad)
