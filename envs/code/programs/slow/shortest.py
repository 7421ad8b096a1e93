"""Slow version of `shortest`."""

GOAL = 200


# The program:
def shortest(xs):
    best = -1
    for i in range(len(xs)):
        total = 0
        for j in range(i, len(xs)):
            total += xs[j]
            if total >= GOAL and (best == -1 or j - i + 1 < best):
                best = j - i + 1
    return best
