# attack: page_tables
# threat: memory
# expect: CONTAINED: the address space is bounded, or page tables count against the job
import ctypes, mmap
try:
    block = mmap.mmap(-1, 400 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
except (OSError, ValueError, MemoryError) as e:
    print("CONTAINED", e)
else:
    n = 0
    for at in range(0, 400 << 30, 2 << 20):
        block[at]  # reading maps the zero page: the table costs, the page does not
        n += 1
    print("ESCAPED", n * 4 >> 10, "MiB of page tables")
