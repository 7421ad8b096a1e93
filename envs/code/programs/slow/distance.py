"""Slow version of `distance`."""

SHIFT = 2
CHANGE = 2


# The program:
def distance(a, b):
    if not a:
        return len(b) * SHIFT
    if not b:
        return len(a) * SHIFT
    last = 0 if a[-1] == b[-1] else CHANGE
    return min(
        distance(a[:-1], b) + SHIFT,
        distance(a, b[:-1]) + SHIFT,
        distance(a[:-1], b[:-1]) + last,
    )
