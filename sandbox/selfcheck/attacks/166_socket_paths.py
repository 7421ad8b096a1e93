# attack: socket_paths
# threat: net
# expect: CONTAINED: no socket of the host has a path here: not the canary, a bus, an engine or a display
# oracle: host listener on /tmp/canary.sock
import os, socket, stat
paths = ["/tmp/canary.sock", "/proc/1/root/tmp/canary.sock", "/proc/self/root/tmp/canary.sock", "/../tmp/canary.sock", "/run/docker.sock",
    "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/systemd/journal/socket", "/dev/log"]
for top in ("/run", "/var", "/tmp", "/dev"):
    for folder, _, names in os.walk(top):
        for name in names:
            try:
                if stat.S_ISSOCK(os.lstat(os.path.join(folder, name)).st_mode):
                    paths.append(os.path.join(folder, name))
            except OSError:
                pass
bad = []
for path in paths:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            s = socket.socket(socket.AF_UNIX, kind)
            s.settimeout(0.5)
            s.connect(path)
            bad.append(path)
        except OSError:
            pass
print("ESCAPED" if bad else "CONTAINED", bad)
