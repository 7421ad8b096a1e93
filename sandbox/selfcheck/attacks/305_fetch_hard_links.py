# attack: fetch_hard_links
# threat: memory
# expect: CONTAINED: two thousand names of one file of a mebibyte
# status: ok
import os
open("/tmp/big","wb").write(b"x"*(1<<20))
n=0
try:
    for i in range(1990): os.link("/tmp/big", f"/tmp/l{i}"); n+=1
except OSError as e: print("INFO", e)
print("CONTAINED", n)
