# attack: every_tmpfs
# threat: disk
# expect: CONTAINED: all writable places together stay within what the job may use
import os
total, where = 0, []
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/run/lock", "/dev/mqueue", "/", "/home", "/var", os.getcwd(), os.environ.get("HOME", "/")):
    path = os.path.join(folder, "fill%d" % len(where))
    n = 0
    try:
        with open(path, "wb", buffering=0) as file:
            while n < 200 << 20:
                n += file.write(b"x" * (1 << 20))
    except OSError:
        pass
    if n:
        total += n
        where.append((folder, n >> 20))
print("ESCAPED" if total > 80 << 20 else "CONTAINED", total >> 20, "MiB", where)
