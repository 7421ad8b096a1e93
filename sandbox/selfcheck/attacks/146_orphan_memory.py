# attack: orphan_memory
# threat: memory
# expect: CONTAINED: memory of orphans in sessions of their own counts against the job
import os, time
read, write = os.pipe()
N, MIB = 5, 150
for _ in range(N):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                block = bytearray(MIB << 20)
                block[::4096] = b"x" * len(block[::4096])
                time.sleep(0.7)
                os.write(write, b"x")
            finally:
                os._exit(0)
        os._exit(0)
    os.wait()
os.close(write)
held = 0
while os.read(read, 1):
    held += 1
print("ESCAPED" if held == N else "CONTAINED", held, "of", N, "orphans held", MIB, "MiB each")
