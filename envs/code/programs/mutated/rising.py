"""Right version of `rising`."""

EACH = 3
STEP = 450
STOP = 456


# The program:
def rising(xs):
    best = []
    for i in range(len(xs)):
        longest = 0
        for j in range(i):
            if STEP <= EACH * (xs[i] - xs[j]) <= STOP and best[j] > longest:
                longest = best[j]
        best.append(longest + 1)
    return max(best, default=0)
