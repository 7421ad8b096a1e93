# attack: kernel_surface_more
# threat: syscall
# expect: CONTAINED: further calls that only attackers and system tools need are refused
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
b = ctypes.create_string_buffer(4096)
ok = []
for name, call in (
    ("modify_ldt write", (154, 1, b, 16)), ("finit_module", (313, 0, b"", 0)), ("delete_module", (176, b"x", 0)), ("kexec_file_load", (320, 0, 0, 0, b"", 0)),
    ("quotactl", (179, 0, None, 0, b)), ("lookup_dcookie", (212, 0, b, 4096)), ("memfd_secret", (447, 0)), ("clock_settime", (227, 0, b)),
    ("adjtimex", (159, b)), ("setdomainname", (171, b"x", 1)), ("pivot_root", (155, b"/tmp", b"/tmp")), ("nfsservctl", (180, 0, b, b)), ("uselib", (134, b"/tmp/x")),
    ("ioprio of init", (251, 1, 1, 0)), ("move_pages of init", (279, 1, 0, None, None, None, 0)), ("migrate_pages of init", (256, 1, 8, b, b)), ("swapoff", (168, b"/x")),
    ("fanotify unprivileged", (300, 0x200, 0)), ("perf user only", (298, b, 0, -1, -1, 8)), ("userfaultfd user only", (323, 1)), ("bpf map", (321, 0, b, 72)), ("bpf prog", (321, 5, b, 72)),
    ("process_vm_readv init", (310, 1, b, 1, b, 1, 0)), ("kcmp", (312, 1, 1, 0, 0, 0)), ("ptrace seize child", (101, 0x4206, 1, 0, 0)), ("setns", (308, 0, 0)), ("vhangup", (153,)), ("syslog size", (103, 10, None, 0)),
):
    ctypes.set_errno(0)
    if libc.syscall(*[ctypes.c_long(x) if isinstance(x, int) else x for x in call]) >= 0:
        ok.append(name)
# Reading the clock's state changes nothing.
ok = [name for name in ok if name != "adjtimex"]
print("ESCAPED" if ok else "CONTAINED", ok)
