# attack: memory_in_and_out
# threat: memory
# expect: CONTAINED: memory taken and given back between two looks of a watch stays below what the machine can bear
# status: ok, memory_limit, time_limit, nonzero_exit, signal
# wall: 2
import mmap, os
for _ in range(5):
    try:
        if os.fork() == 0:
            break
    except OSError:
        break
while True:
    try:
        block = mmap.mmap(-1, 250 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000)
        block.close()
    except (OSError, MemoryError):
        pass
