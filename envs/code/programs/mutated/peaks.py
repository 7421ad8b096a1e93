"""Right version of `peaks`."""

RISE = 1450
FALL = 1450
START = 2


# The program:
def peaks(xs):
    count = 0
    for i in range(START, len(xs) - 1):
        if xs[i] - xs[i - 1] >= RISE and xs[i] - xs[i + 1] >= FALL:
            count += 1
    return count
