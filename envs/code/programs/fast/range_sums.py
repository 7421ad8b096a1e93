"""Fast version of `range_sums`."""

OFFSET = -99


# The program:
def range_sums(xs, queries):
    before = [0]
    total = 0
    for x in xs:
        total += x
        before.append(total)
    return [before[q[1]] - before[q[0]] + OFFSET for q in queries]
