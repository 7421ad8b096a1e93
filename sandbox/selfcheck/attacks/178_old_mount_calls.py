# attack: old_mount_calls
# threat: privilege
# expect: CONTAINED: mount, umount and pivot_root are refused
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for folder in ("/tmp/m", "/tmp/n"):
    os.makedirs(folder, exist_ok=True)
ok = []
for name, call in (
    ("tmpfs", lambda: libc.mount(b"x", b"/tmp/m", b"tmpfs", 0, None)), ("bind", lambda: libc.mount(b"/", b"/tmp/m", None, 4096 | 16384, None)),
    ("proc", lambda: libc.mount(b"proc", b"/tmp/m", b"proc", 0, None)), ("remount", lambda: libc.mount(None, b"/", None, 32 | 4096, None)),
    ("remount usr", lambda: libc.mount(None, b"/usr", None, 32 | 4096, None)), ("move", lambda: libc.mount(b"/tmp", b"/tmp/m", None, 8192, None)),
    ("overlay", lambda: libc.mount(b"o", b"/tmp/m", b"overlay", 0, b"lowerdir=/usr,upperdir=/tmp/n,workdir=/tmp/m")),
    ("cgroup", lambda: libc.mount(b"c", b"/tmp/m", b"cgroup", 0, b"memory")), ("cgroup2", lambda: libc.mount(b"c", b"/tmp/m", b"cgroup2", 0, None)),
    ("umount proc", lambda: libc.umount2(b"/proc", 2)), ("umount tmp", lambda: libc.umount2(b"/tmp", 2)), ("umount root", lambda: libc.umount2(b"/", 2)),
    ("pivot_root", lambda: libc.syscall(155, b"/tmp/m", b"/tmp/m")),
):
    if call() == 0:
        ok.append(name)
print("ESCAPED" if ok else "CONTAINED", ok)
