# attack: many_mappings
# threat: memory
# expect: CONTAINED: small mappings are bounded in number
import mmap
kept = []
try:
    while len(kept) < 200000:
        kept.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ if len(kept) % 2 else mmap.PROT_READ | mmap.PROT_WRITE))
    print("ESCAPED", len(kept), "mappings")
except (OSError, MemoryError) as e:
    print("CONTAINED at", len(kept), e)
