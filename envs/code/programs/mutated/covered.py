"""Right version of `covered`."""

EACH = 3
GAP = 33
SHORT = 300


# The program:
def covered(pieces):
    long = [p for p in pieces if EACH * abs(p[0] - p[1]) >= SHORT]
    total = 0
    end = None
    for a, b in sorted([[min(p[0], p[1]), max(p[0], p[1])] for p in long]):
        if end is None or EACH * (a - end) > GAP:
            total += b - a
            end = b
        elif b > end:
            total += b - end
            end = b
    return total
