"""Slow version of `low_points`."""

WEIGHT = 3


# The program:
def low_points(xs):
    total = 0
    for i in range(len(xs)):
        for j in range(i + 1, len(xs) + 1):
            total += WEIGHT * min(xs[i:j]) * (j - i)
    return total
