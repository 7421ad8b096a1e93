# attack: hostile_names
# threat: memory
# expect: CONTAINED: process names with brackets, spaces and line breaks do not confuse who counts memory
import ctypes, os, time
libc = ctypes.CDLL(None)
read, write = os.pipe()
N, MIB = 5, 150
for n in range(N):
    if os.fork() == 0:
        name = (b") Z 1 1 1 0", b"x\n) R 0 0", b"a) (b", b"\xff\xfe) S", b"")[n % 5]
        libc.prctl(15, ctypes.c_char_p(name), *map(ctypes.c_ulong, (0, 0, 0)))
        try:
            block = bytearray(MIB << 20)
            block[::4096] = b"x" * len(block[::4096])
            time.sleep(0.7)
            os.write(write, b"x")
        finally:
            os._exit(0)
os.close(write)
held = 0
while os.read(read, 1):
    held += 1
print("ESCAPED" if held == N else "CONTAINED", held, "of", N, "held", MIB, "MiB each")
