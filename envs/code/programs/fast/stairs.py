"""Fast version of `stairs`."""

LONG = 3
WEIGHT = 1


# The program:
def stairs(n, broken):
    ways = [1]
    for i in range(1, n + 1):
        count = 0
        if i not in broken:
            count = ways[i - 1]
            if i >= 2:
                count += ways[i - 2]
            if i >= LONG:
                count += ways[i - LONG]
        ways.append(count)
    return ways[n] * WEIGHT
