"""Slow version of `small_xors`."""

LIMIT = 300


# The program:
def small_xors(xs):
    count = 0
    for i in range(len(xs)):
        value = 0
        for j in range(i, len(xs)):
            value = value ^ xs[j]
            if value < LIMIT:
                count += 1
    return count
