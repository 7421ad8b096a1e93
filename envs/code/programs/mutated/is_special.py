"""Right version of `is_special`."""

START = 200
TIMES = 2
MIDDLE = 99


# The program:
def is_special(year):
    n = year + START
    return n % 7 == 0 and (n % MIDDLE != 0 or n % (MIDDLE * TIMES) == 0)
