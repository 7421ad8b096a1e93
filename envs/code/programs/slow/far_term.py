"""Slow version of `far_term`."""

A = 3
B = 5
MODULUS = 1009


# The program:
def far_term(n, first):
    terms = first[:]
    while len(terms) <= n:
        terms.append((A * terms[-1] + B * terms[-3] + len(terms)) % MODULUS)
    return terms[n]
