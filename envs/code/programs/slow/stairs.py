"""Slow version of `stairs`."""

LONG = 3
WEIGHT = 1


# fmt: off
# The program:
def stairs(n, broken):
    def ways(at):
        if at > n or at in broken:
            return 0
        if at == n:
            return 1
        return ways(at + 1) + ways(at + 2) + ways(at + LONG)
    return ways(0) * WEIGHT
