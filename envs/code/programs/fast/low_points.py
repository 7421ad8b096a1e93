"""Fast version of `low_points`."""

WEIGHT = 3


# The program:
def low_points(xs):
    # For each item, the parts in which it is the first least one: their number and the sum of their lengths.
    total = 0
    stack = [(-1, -1000000)]
    for i, x in enumerate(xs + [-999999]):
        while stack[-1][1] > x:
            at, low = stack.pop()
            left = at - stack[-1][0]
            right = i - at
            total += low * left * right * (left + right)
        stack.append((i, x))
    return total // 2 * WEIGHT
