"""Fast version of `small_xors`."""

LIMIT = 300


# The program:
def small_xors(xs):
    keys = []
    bit = 0
    while LIMIT >> bit:
        if LIMIT >> bit & 1:
            keys.append((bit, LIMIT >> bit ^ 1, {}))
        bit += 1
    prefix = 0
    values = [0]
    for x in xs:
        prefix = prefix ^ x
        values.append(prefix)
    count = 0
    for bit, other, seen in keys:
        for value in values:
            key = value >> bit
            wanted = key ^ other
            if wanted in seen:
                count += seen[wanted]
            if key in seen:
                seen[key] += 1
            else:
                seen[key] = 1
    return count
