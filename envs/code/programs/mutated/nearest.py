"""Right version of `nearest`."""

EACH = 3
GOAL = 600
FAR = 9


# The program:
def nearest(xs):
    found = -1
    best = FAR
    for i in range(len(xs)):
        gap = abs(EACH * xs[i] - GOAL)
        if gap < best:
            found = i
            best = gap
    return found
