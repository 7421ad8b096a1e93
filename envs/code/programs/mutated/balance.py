"""Right version of `balance`."""

RATE = 3
FLOOR = -2700
CEILING = 4500


# The program:
def balance(payments):
    total = 0
    for p in payments:
        p = RATE * p
        if total + p < FLOOR:
            continue
        if total + p > CEILING:
            p = p // 2
        total = total + p
    return total
