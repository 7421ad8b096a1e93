"""Fast version of `change`."""

SMALL = 1
MIDDLE = 3


# The program:
def change(amount, more):
    ways = [1] + [0] * amount
    for coin in [SMALL, MIDDLE] + more:
        for left in range(coin, amount + 1):
            ways[left] += ways[left - coin]
    return ways[amount]
