# attack: setuid_programs
# threat: privilege
# expect: CONTAINED: programs with the set-uid bit or with file capabilities give nothing
import os, stat, subprocess
bad, tried = [], 0
for folder in ("/usr/bin", "/usr/sbin", "/usr/lib/openssh", "/usr/lib/dbus-1.0", "/usr/lib/polkit-1", "/usr/lib/x86_64-linux-gnu/gstreamer1.0/gstreamer-1.0"):
    try:
        names = os.listdir(folder)
    except OSError:
        continue
    for name in names:
        path = os.path.join(folder, name)
        try:
            special = os.lstat(path).st_mode & (stat.S_ISUID | stat.S_ISGID) or "security.capability" in os.listxattr(path)
        except OSError:
            continue
        if not special:
            continue
        tried += 1
        try:
            child = subprocess.Popen([path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            text = open("/proc/%d/status" % child.pid).read()
            for line in text.splitlines():
                if line.startswith("Uid") and "0" in line.split()[1:] or line.startswith("CapEff") and int(line.split()[1], 16):
                    bad.append((name, line))
            child.kill()
            child.wait()
        except OSError:
            pass
for command in (["su", "-c", "id"], ["mount", "-t", "tmpfs", "x", "/tmp"], ["newgrp"], ["ping", "-c1", "-W1", "127.0.0.1"], ["umount", "/tmp"]):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=1)
        if done.returncode == 0 and (b"uid=0" in done.stdout or command[0] in ("mount", "umount")):
            bad.append(command[0])
    except (OSError, subprocess.TimeoutExpired):
        pass
print("ESCAPED" if bad else "CONTAINED", tried, "tried", bad)
