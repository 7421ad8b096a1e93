# attack: unlinked_files
# threat: disk
# expect: CONTAINED: files that have no name any more still count against the disk limit
import os
total, kept = 0, []
try:
    for n in range(50):
        fd = os.open("/tmp/u", os.O_CREAT | os.O_RDWR)
        os.unlink("/tmp/u")
        kept.append(fd)
        for _ in range(8):
            total += os.write(fd, b"x" * (1 << 20))
    print("ESCAPED", total >> 20, "MiB in files without a name")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", total >> 20, "MiB")
