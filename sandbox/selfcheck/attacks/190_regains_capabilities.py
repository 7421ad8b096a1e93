# attack: regains_capabilities
# threat: privilege
# expect: CONTAINED: no capability is held, and none comes back by capset, ambient set, secure bits or exec
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
L = ctypes.c_ulong
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
libc.capset(header, (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6))
for capability in range(41):
    libc.prctl(47, L(2), L(capability), L(0), L(0))
libc.prctl(28, L(0x2F), L(0), L(0), L(0))
libc.prctl(38, L(0), L(0), L(0), L(0))
for change in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0), lambda: os.setgroups([0])):
    try:
        change()
    except OSError:
        pass
show = "print([l.split() for l in open('/proc/self/status') if l.startswith(('CapEff', 'CapPrm', 'CapAmb', 'NoNewPrivs'))])"
bad = []
for text in (str([l.split() for l in open("/proc/self/status") if l.startswith(("CapEff", "CapPrm", "CapAmb", "NoNewPrivs"))]), subprocess.run([sys.executable, "-S", "-c", show], capture_output=True, text=True).stdout):
    for entry in eval(text or "[]"):
        if entry[0].startswith("Cap") and int(entry[1], 16) or entry[0].startswith("No") and entry[1] != "1":
            bad.append(entry)
if 0 in (os.getuid(), os.geteuid()):
    bad.append("uid 0")
print("ESCAPED" if bad else "CONTAINED", bad)
