"""Slow version of `prime_sum`."""

MODULUS = 20


# The program:
def prime_sum(first, n):
    total = 0
    for k in range(first, n + 1):
        prime = True
        for d in range(2, k):
            if k % d == 0:
                prime = False
                break
        if prime:
            total += k % MODULUS
    return total
