# attack: makes_devices
# threat: privilege
# expect: CONTAINED: device files cannot be made
import os, stat
ok = []
for name, kind, major, minor in (("mem", stat.S_IFCHR, 1, 1), ("kmsg", stat.S_IFCHR, 1, 11), ("null", stat.S_IFCHR, 1, 3), ("tty", stat.S_IFCHR, 5, 0), ("vda", stat.S_IFBLK, 254, 0), ("sda", stat.S_IFBLK, 8, 0), ("loop", stat.S_IFBLK, 7, 0)):
    for folder in ("/tmp", "/dev", "/dev/shm", "."):
        path = os.path.join(folder, "dev_" + name)
        try:
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
            ok.append(path)
        except OSError:
            pass
print("ESCAPED" if ok else "CONTAINED", ok)
