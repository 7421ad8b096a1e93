"""Slow version of `change`."""

SMALL = 1
MIDDLE = 3


# fmt: off
# The program:
def change(amount, more):
    coins = [SMALL, MIDDLE] + more
    def ways(left, first):
        if left == 0:
            return 1
        count = 0
        for i in range(first, 4):
            if coins[i] <= left:
                count += ways(left - coins[i], i)
        return count
    return ways(amount, 0)
