"""Fast version of `distance`."""

SHIFT = 2
CHANGE = 2


# The program:
def distance(a, b):
    row = [j * SHIFT for j in range(len(b) + 1)]
    for i, x in enumerate(a):
        corner = row[0]
        row[0] = left = corner + SHIFT
        for j, y in enumerate(b, 1):
            above = row[j]
            if x == y:
                left = corner
            else:
                best = (left if left < above else above) + SHIFT
                left = corner + CHANGE if corner + CHANGE < best else best
            corner = above
            row[j] = left
    return row[-1]
