"""Right version of `in_band`."""

EACH = 3
LOW = 300
HIGH = 360


# The program:
def in_band(xs):
    count = 0
    for i in range(len(xs)):
        if LOW <= EACH * xs[i] <= HIGH and (i == 0 or xs[i] != xs[i - 1]):
            count += 1
    return count
