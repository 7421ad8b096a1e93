"""Slow version of `pairs_to`."""

TARGET = -30


# The program:
def pairs_to(xs):
    count = 0
    for i in range(len(xs)):
        for j in range(i + 1, len(xs)):
            if xs[i] + xs[j] == TARGET:
                count += 1
    return count
