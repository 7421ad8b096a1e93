"""Right version of `wait`."""

HOUR = 5
MINUTE = 11
COUNT = 5
EVERY = 90


# The program:
def wait(minute):
    first = 60 * HOUR + MINUTE
    last = first + COUNT * EVERY
    if minute < first - EVERY // 2:
        return -2
    if minute > last:
        return -1
    if minute < first:
        return first - minute
    return (first - minute) % EVERY
