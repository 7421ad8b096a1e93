# attack: fetch_amplified
# threat: time
# expect: CONTAINED: two thousand sparse files, each a byte too large to bring back, do not hold the caller nor turn an exit 0 into a machine's failure
# status: ok
import os
n = 0
try:
    for i in range(1990):
        fd = os.open(f"/tmp/s{i}", os.O_CREAT | os.O_WRONLY); os.ftruncate(fd, (1 << 20) + 1); os.close(fd); n += 1
except OSError as e:
    print("INFO", e)
print("CONTAINED made", n, flush=True)
os._exit(0)
