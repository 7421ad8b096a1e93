"""Right version of `clamp`."""

TIMES = 3
SHIFT = 30
DEAD = 60
LOW = -1200
HIGH = 1200


# The program:
def clamp(x):
    y = TIMES * (x - SHIFT)
    if abs(y) < DEAD:
        return 0
    if y < LOW:
        return LOW
    if y > HIGH:
        return HIGH
    return y
