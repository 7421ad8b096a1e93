"""Fast version of `prime_sum`."""

MODULUS = 20


# The program:
def prime_sum(first, n):
    if n < first:
        return 0
    total = 2 % MODULUS if first == 2 else 0
    odd = [True] * (n // 2 + 1)
    for k in range(3, n + 1, 2):
        if odd[k // 2]:
            if k >= first:
                total += k % MODULUS
            if k * k <= n:
                for j in range(k * k // 2, n // 2 + 1, k):
                    odd[j] = False
    return total
