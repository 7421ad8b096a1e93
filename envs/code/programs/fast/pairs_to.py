"""Fast version of `pairs_to`."""

TARGET = -30


# The program:
def pairs_to(xs):
    count = 0
    seen = {}
    for x in xs:
        count += seen.get(TARGET - x, 0)
        seen[x] = seen.get(x, 0) + 1
    return count
