"""Fast version of `power_tail`."""

MODULUS = 1000


# The program:
def power_tail(base, exponent):
    return pow(base, exponent, MODULUS)
