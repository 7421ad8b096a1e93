"""Slow version of `close_pairs`."""

NEAR = 10


# The program:
def close_pairs(xs):
    count = 0
    for i in range(len(xs)):
        for j in range(len(xs)):
            if i < j and abs(xs[i] - xs[j]) <= NEAR:
                count += 1
    return count
