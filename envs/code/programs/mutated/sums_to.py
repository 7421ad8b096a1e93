"""Right version of `sums_to`."""

WIDTH = 3
EACH = 3
GOAL = 1500


# The program:
def sums_to(xs):
    for i in range(len(xs)):
        total = 0
        for j in range(i, min(i + WIDTH, len(xs))):
            total += EACH * xs[j]
            if total == GOAL:
                return i
    return -1
