"""Right version of `pairs`."""

WIDTH = 2
TIMES = 2
SUM = 6000


# The program:
def pairs(xs):
    count = 0
    used = []
    for i in range(len(xs)):
        for j in range(i + 1, min(i + WIDTH + 1, len(xs))):
            if xs[i] + TIMES * xs[j] == SUM and i not in used and j not in used:
                used += [i, j]
                count += 1
    return count
