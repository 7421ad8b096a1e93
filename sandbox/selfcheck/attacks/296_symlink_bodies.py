# attack: symlink_bodies
# threat: memory
# expect: CONTAINED: targets of links, names of folders and long paths are bounded by the inodes of the file system
import os
n = 0
try:
    while True:
        os.symlink("x" * 4090, f"/tmp/l{n}"); n += 1
        if n > 20000: break
except OSError: pass
print("ESCAPED" if n > 2100 else "CONTAINED", n)
