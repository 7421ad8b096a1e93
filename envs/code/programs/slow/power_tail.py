"""Slow version of `power_tail`."""

MODULUS = 1000


# The program:
def power_tail(base, exponent):
    value = 1 % MODULUS
    for i in range(exponent):
        value = value * base % MODULUS
    return value
