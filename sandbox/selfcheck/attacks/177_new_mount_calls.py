# attack: new_mount_calls
# threat: privilege
# expect: CONTAINED: the newer mount calls are refused
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
at = -100
attributes = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
ok = []
for name, call in (
    ("open_tree", (428, at, b"/", 1)), ("open_tree rec", (428, at, b"/usr", 0x8001)), ("fsopen tmpfs", (430, b"tmpfs", 0)),
    ("fsopen proc", (430, b"proc", 0)), ("fsopen cgroup2", (430, b"cgroup2", 0)), ("fspick", (433, at, b"/tmp", 0)),
    ("mount_setattr", (442, at, b"/", 0x8000, attributes, 32)), ("move_mount", (429, at, b"/tmp", at, b"/usr", 0)), ("fsmount", (432, 3, 0, 0)),
):
    if libc.syscall(*call) >= 0:
        ok.append(name)
print("ESCAPED" if ok else "CONTAINED", ok)
