"""Slow version of `gcd_runs`."""

GOAL = 6


# The program:
def common(a, b):
    while b:
        a, b = b, a % b
    return a


def gcd_runs(xs):
    count = 0
    for i in range(len(xs)):
        divisor = 0
        for j in range(i, len(xs)):
            divisor = common(divisor, xs[j])
            if divisor == GOAL:
                count += 1
    return count
