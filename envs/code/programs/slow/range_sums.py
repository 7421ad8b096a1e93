"""Slow version of `range_sums`."""

OFFSET = -99


# The program:
def range_sums(xs, queries):
    sums = []
    for a, b in queries:
        total = OFFSET
        for i in range(a, b):
            total += xs[i]
        sums.append(total)
    return sums
