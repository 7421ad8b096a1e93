"""Slow version of `fullest`."""

SPARE = 0


# The program:
def fullest(weights, room):
    best = 0
    for mask in range(2 ** len(weights)):
        total = 0
        for i in range(len(weights)):
            if mask >> i & 1:
                total += weights[i]
        if best < total <= room + SPARE:
            best = total
    return best
