"""Right version of `reach`."""

GOAL = 4200
LEAST = 20


# The program:
def reach(xs):
    total = 0
    for i in range(len(xs)):
        if xs[i] >= LEAST:
            total += xs[i]
        if total >= GOAL:
            return i + 1
    return -1
