"""Fast version of `close_pairs`."""

NEAR = 10


# The program:
def close_pairs(xs):
    count = 0
    left = 0
    ordered = sorted(xs)
    for right, x in enumerate(ordered):
        while x - ordered[left] > NEAR:
            left += 1
        count += right - left
    return count
