# attack: shared_anonymous
# threat: memory
# expect: CONTAINED: shared anonymous memory of several children counts against one limit
import mmap, os, time
read, write = os.pipe()
N, MIB = 6, 150
for _ in range(N):
    if os.fork() == 0:
        try:
            block = mmap.mmap(-1, MIB << 20, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
            for at in range(0, MIB << 20, 4096):
                block[at] = 1
            time.sleep(1.5)
            os.write(write, b"x")
        finally:
            os._exit(0)
os.close(write)
held = 0
while os.read(read, 1):
    held += 1
print("ESCAPED" if held == N else "CONTAINED", held, "of", N, "held", MIB, "MiB")
