# attack: output_hard_link
# threat: fs
# expect: CONTAINED: files of the system cannot be linked into the private folder
import os
ok = []
for path in ("/etc/passwd", "/etc/shadow", "/proc/self/exe", "/usr/bin/env", os.__file__, "/dev/null"):
    for follow in (True, False):
        try:
            os.link(path, "out%d.txt" % len(ok), follow_symlinks=follow)
            ok.append(path)
        except OSError:
            pass
print("ESCAPED" if ok else "CONTAINED", ok)
