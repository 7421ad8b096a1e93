# attack: memory_burst
# threat: memory
# expect: CONTAINED: four children that fill their memory at once are stopped before all of them have it
import os, time
read, write = os.pipe()
N, MIB = 4, 300
made = 0
for _ in range(N):
    try:
        if os.fork() == 0:
            try:
                block = bytearray(b"x") * (MIB << 20)
                os.write(write, b"x")
                time.sleep(1)
            finally:
                os._exit(0)
        made += 1
    except OSError:
        break
os.close(write)
held = 0
while held < N and os.read(read, 1):
    held += 1
print("ESCAPED" if held == N else "CONTAINED", held, "of", made, "held", MIB, "MiB each")
