"""A list changed through slices."""

BOUND, BITS, SHIFT = 61, 6, 2


# The program:
def spin(ring, x):
    k = x % (len(ring) - 2) + 1
    ring[k:] = ring[:k] + ring[:k:-1]
    while len(ring) > 6:
        ring[:SHIFT] = [(ring.pop() + ring[0]) % BOUND]
    while len(ring) < 5:
        ring.insert(1, (ring[-1] ^ BITS) + k)
    ring[::2] = [(v + x) % BOUND for v in ring[-1::-2]][: len(ring[::2])]
    return ring[-k] + ring[1]
