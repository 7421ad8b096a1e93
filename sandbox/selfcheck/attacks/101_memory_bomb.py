# attack: memory_bomb
# threat: memory
# expect: CONTAINED: MemoryError at the address-space limit, or killed by the memory limit
kept = []
try:
    for n in range(64):
        block = bytearray(64 << 20)
        block[::4096] = b"x" * len(block[::4096])
        kept.append(block)
    print("ESCAPED", len(kept) * 64, "MiB held")
except MemoryError:
    print("CONTAINED MemoryError at", len(kept) * 64, "MiB")
