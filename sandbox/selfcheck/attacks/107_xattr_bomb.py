# attack: xattr_bomb
# threat: memory
# expect: CONTAINED: extended attributes are refused or bounded
import os
total = 0
try:
    for n in range(2000):
        path = "/tmp/x%d" % n
        open(path, "w").close()
        for k in range(16):
            os.setxattr(path, "user.a%d" % k, b"v" * 60000)
            total += 60000
    print("ESCAPED", total >> 20, "MiB of attributes")
except OSError as e:
    print("ESCAPED" if total > 128 << 20 else "CONTAINED", "errno", e.errno, "at", total >> 20, "MiB")
