"""Fast version of `busiest`."""

PAUSE = 0
WEIGHT = 1


# The program:
def busiest(spans):
    ends = sorted([s[1] + PAUSE for s in spans])
    best = 0
    gone = 0
    for i, a in enumerate(sorted([s[0] for s in spans])):
        while ends[gone] <= a:
            gone += 1
        if i - gone >= best:
            best = i - gone + 1
    return best * WEIGHT
