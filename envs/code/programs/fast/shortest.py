"""Fast version of `shortest`."""

GOAL = 200


# The program:
def shortest(xs):
    best = -1
    total = 0
    left = 0
    for right, x in enumerate(xs):
        total += x
        while total >= GOAL:
            if best == -1 or right - left + 1 < best:
                best = right - left + 1
            total -= xs[left]
            left += 1
    return best
