# attack: makes_setuid
# threat: privilege
# expect: CONTAINED: a set-uid copy of a program runs as nobody else, and no capability can be put on a file
import os, shutil, subprocess
bad = []
try:
    shutil.copy("/usr/bin/id", "/tmp/id")
    try:
        os.chmod("/tmp/id", 0o6755)
    except OSError:
        pass
    before = os.stat("/tmp/id").st_uid
    out = subprocess.run(["/tmp/id"], capture_output=True, text=True).stdout
    if "euid" in out or "uid=0" in out:
        bad.append(out)
    for owner in ((0, 0), (1000, 1000)):
        try:
            os.chown("/tmp/id", *owner)
            bad.append(("chown", owner))
        except OSError:
            pass
    try:
        os.setxattr("/tmp/id", "security.capability", b"\x01\x00\x00\x02\xff\xff\xff\xff" + b"\0" * 12)
        bad.append("capability on a file")
    except OSError:
        pass
except OSError as e:
    print("no copy", e.errno)
print("ESCAPED" if bad else "CONTAINED", bad)
