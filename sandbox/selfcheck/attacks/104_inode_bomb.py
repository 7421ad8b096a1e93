# attack: inode_bomb
# threat: disk
# expect: CONTAINED: ENOSPC at the limit of inodes
# wall: 6
import os
n = 0
try:
    while n < 200000:
        os.close(os.open("/tmp/i%d" % n, os.O_CREAT | os.O_WRONLY))
        n += 1
        if n > 20000:
            break
    print("ESCAPED", n, "files")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", n, "files")
