# attack: writes_outside
# threat: fs
# expect: CONTAINED: nothing outside the private folders can be changed: not the system, the interpreter or its caches
import os, sys
private = ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", "/proc", os.getcwd(), os.environ.get("HOME", "/tmp"))
bad = []
tops = {"/", "/usr", "/etc", "/bin", "/lib", "/opt", "/var", "/home", "/root", "/sys", sys.prefix, sys.base_prefix, *(p for p in sys.path if p)}
n = 0
for top in tops:
    for folder, folders, names in os.walk(top):
        n += 1
        if any(folder == p or folder.startswith(p + "/") for p in private) or n > 4000:
            folders[:] = []
            continue
        try:
            path = os.path.join(folder, "planted_by_a_job")
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL))
            os.unlink(path)
            bad.append(folder)
        except OSError:
            pass
        for name in names[:20]:
            if folder == "/dev":
                continue  # null, zero and the like are there to be written to
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW))
                bad.append(os.path.join(folder, name))
            except OSError:
                pass
for path in (os.__file__, sys.executable, "/proc/self/exe", "/etc/passwd", "/lib/x86_64-linux-gnu/libc.so.6"):
    for change in (lambda p: os.close(os.open(p, os.O_WRONLY)), lambda p: os.chmod(p, 0o777), lambda p: os.utime(p), os.unlink):
        try:
            change(path)
            bad.append(path)
        except OSError:
            pass
print("ESCAPED" if bad else "CONTAINED", bad[:8])
