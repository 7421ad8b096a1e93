# attack: hard_link_bomb
# threat: disk
# expect: CONTAINED: names cost inodes or are bounded in another way
import os
open("/tmp/one", "w").close()
n = 0
try:
    while n < 60000:
        os.link("/tmp/one", "/tmp/" + str(n).rjust(250, "l"))
        n += 1
    print("ESCAPED", n, "names of one file")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", n)
