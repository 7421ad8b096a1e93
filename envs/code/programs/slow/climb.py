"""Slow version of `climb`."""

MODULUS = 500


# The program:
def climb(xs):
    best = []
    for i in range(len(xs)):
        longest = 0
        for j in range(i):
            if xs[j] % MODULUS < xs[i] % MODULUS and best[j] > longest:
                longest = best[j]
        best.append(longest + 1)
    return max(best, default=0)
