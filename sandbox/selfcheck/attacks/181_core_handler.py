# attack: core_handler
# threat: privilege
# expect: CONTAINED: neither a core handler nor a binary format can be registered
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
bad = []
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper", "/proc/sys/kernel/hotplug", "/proc/sys/kernel/poweroff_cmd"):
    for flags in (os.O_WRONLY, os.O_RDWR):
        try:
            os.close(os.open(path, flags))
            bad.append(path)
        except OSError:
            pass
os.makedirs("/tmp/b", exist_ok=True)
if libc.mount(b"b", b"/tmp/b", b"binfmt_misc", 0, None) == 0:
    bad.append("binfmt_misc mounted")
print("ESCAPED" if bad else "CONTAINED", bad)
