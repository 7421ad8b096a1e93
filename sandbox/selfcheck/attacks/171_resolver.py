# attack: resolver
# threat: info
# expect: CONTAINED: the host's resolver and names are not told
import os
bad = []
for path in ("/etc/resolv.conf", "/etc/hosts", "/run/systemd/resolve/resolv.conf", "/etc/hostname", "/etc/machine-id", "/var/lib/dbus/machine-id"):
    try:
        lines = [l for l in open(path).read().split("\n") if l.strip() and not l.startswith("#")]
        lines = [l for l in lines if "localhost" not in l and "127.0.0.1" not in l and "::1" not in l]
        if lines:
            bad.append((path, lines[0][:40]))
    except OSError:
        pass
print("ESCAPED" if bad else "CONTAINED", bad)
