# attack: parent_memory_write
# threat: process
# expect: CONTAINED: no other process's memory can be opened for writing
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
bad = []
for pid in {1, os.getppid(), *(int(n) for n in os.listdir("/proc") if n.isdigit())} - {0, os.getpid()}:
    for name in ("mem", "oom_score_adj", "comm", "clear_refs", "coredump_filter", "timerslack_ns", "uid_map", "setgroups", "sched", "autogroup", "attr/current"):
        try:
            os.close(os.open("/proc/%d/%s" % (pid, name), os.O_WRONLY))
            bad.append((pid, name))
        except OSError:
            pass
    buffer = ctypes.create_string_buffer(8)
    vec = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    if libc.process_vm_writev(pid, vec, 1, vec, 1, 0) >= 0:
        bad.append((pid, "process_vm_writev"))
print("ESCAPED" if bad else "CONTAINED", bad)
