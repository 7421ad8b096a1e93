"""Fast version of `small_xors`."""

LIMIT = 300


# The program:
def small_xors(xs):
    # How many beginnings have each exclusive or; from bit to bit, those that differ in lower bits become one.
    counts = {0: 1}
    value = 0
    for x in xs:
        value = value ^ x
        counts[value] = counts.get(value, 0) + 1
    limit = LIMIT
    twice = 0
    while True:
        if limit == 1:
            return (twice + sum([many * (many - 1) for many in counts.values()])) // 2
        if limit % 2:
            other = limit - 1
            for key in counts:
                if key ^ other in counts:
                    twice += counts[key] * counts[key ^ other]
        limit = limit >> 1
        halves = {}
        for key, many in counts.items():
            half = key >> 1
            halves[half] = halves.get(half, 0) + many
        counts = halves
