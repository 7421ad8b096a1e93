# attack: kernel_addresses
# threat: info
# expect: CONTAINED: no address of the kernel, no frame number of memory, no kernel log
import ctypes, re
libc = ctypes.CDLL(None, use_errno=True)
bad = []
for path in ("/proc/kallsyms", "/proc/modules", "/proc/iomem", "/proc/ioports", "/proc/vmallocinfo", "/proc/timer_list", "/proc/sched_debug", "/proc/kcore", "/proc/kpagecount", "/proc/kpageflags", "/proc/slabinfo", "/proc/net/netlink", "/dev/kmsg", "/sys/kernel/notes", "/sys/kernel/vmcoreinfo", "/sys/kernel/debug", "/sys/kernel/tracing/trace", "/boot/System.map"):
    try:
        text = open(path, "rb").read(200000)
    except OSError:
        continue
    if path in ("/proc/kcore", "/proc/kpagecount", "/dev/kmsg") and text:
        bad.append(path)
    elif re.search(rb"\b(0x)?ffff[0-9a-f]{12}\b", text) or path.endswith(("iomem", "ioports")) and re.search(rb"[1-9a-f][0-9a-f]{6,}-", text):
        bad.append(path)
try:
    with open("/proc/self/pagemap", "rb") as file:
        x = bytearray(4096)
        file.seek((ctypes.addressof(ctypes.c_char.from_buffer(x)) >> 12) * 8)
        if int.from_bytes(file.read(8), "little") & ((1 << 55) - 1):
            bad.append("/proc/self/pagemap")
except OSError:
    pass
buffer = ctypes.create_string_buffer(4096)
if libc.syscall(103, 3, buffer, 4096) > 0 or libc.syscall(103, 10, None, 0) >= 0:
    bad.append("syslog")
print("ESCAPED" if bad else "CONTAINED", bad)
