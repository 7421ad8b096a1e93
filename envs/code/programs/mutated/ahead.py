"""Right version of `ahead`."""

EACH = 3
NEAR = 1500
FAR = 1527


# The program:
def ahead(xs, goal):
    seen = []
    for x in xs:
        if NEAR <= EACH * (x - goal) <= FAR and x not in seen:
            seen.append(x)
    return len(seen)
