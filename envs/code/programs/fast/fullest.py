"""Fast version of `fullest`."""

SPARE = 0


# The program:
def fullest(weights, room):
    sums = 1
    keep = (1 << room + SPARE + 1) - 1
    for w in weights:
        sums = (sums | sums << w) & keep
    return len_of(sums)


def len_of(sums):
    low = 0
    high = 1
    while sums >> high:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if sums >> middle:
            low = middle
        else:
            high = middle
    return low
