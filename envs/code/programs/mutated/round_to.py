"""Right version of `round_to`."""

SHIFT = 20
TIMES = 3
WIDTH = 240


# The program:
def round_to(n):
    m = n - SHIFT
    most = TIMES * WIDTH + WIDTH // 2
    if abs(m) > most:
        return n
    rest = m % WIDTH
    if rest >= WIDTH // 2:
        return n - rest + WIDTH
    return n - rest
