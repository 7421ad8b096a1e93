"""Slow version of `busiest`."""

PAUSE = 0
WEIGHT = 1


# The program:
def busiest(spans):
    best = 0
    for a, b in spans:
        count = 0
        for c, d in spans:
            if c <= a and a < d + PAUSE:
                count += 1
        best = max(best, count)
    return best * WEIGHT
