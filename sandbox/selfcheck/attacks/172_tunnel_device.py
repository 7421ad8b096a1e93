# attack: tunnel_device
# threat: net
# expect: CONTAINED: no device of the host but null, zero, full, random and urandom
import os, stat
allowed = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2)}
bad = []
for folder, _, names in os.walk("/dev"):
    for name in names:
        path = os.path.join(folder, name)
        try:
            status = os.stat(path)
            if not (stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)):
                continue
            device = os.major(status.st_rdev), os.minor(status.st_rdev)
            if stat.S_ISCHR(status.st_mode) and device in allowed or device[0] == 136:
                continue
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            bad.append(path)
        except OSError:
            pass
for path in ("/dev/net/tun", "/dev/kvm", "/dev/fuse", "/dev/mem", "/dev/port", "/dev/loop-control", "/dev/vhost-vsock", "/dev/userfaultfd", "/dev/dri/card0", "/dev/nvidia0"):
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        bad.append(path)
    except OSError:
        pass
print("ESCAPED" if bad else "CONTAINED", bad)
