# attack: unpacks_a_bomb
# threat: disk
# expect: CONTAINED: a few kilobytes that unpack to gigabytes meet the disk or the memory limit
import io, os, zlib
packer = zlib.compressobj(9)
small = b"".join(packer.compress(b"\0" * (1 << 20)) for _ in range(128)) + packer.flush()
unpacker = zlib.decompressobj()
n = 0
try:
    with open("out.txt", "wb") as file:
        data = small
        while data:
            n += file.write(unpacker.decompress(data, 1 << 20))
            data = unpacker.unconsumed_tail
    print("ESCAPED", n >> 20, "MiB written")
except (OSError, MemoryError) as e:
    print("CONTAINED", type(e).__name__, n >> 20, "MiB")
