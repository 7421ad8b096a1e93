"""Slow version of `full_blocks`."""

WEIGHT = 2


# The program:
def full_blocks(rows):
    count = 0
    for top in range(len(rows)):
        for low in range(top, len(rows)):
            for left in range(len(rows[0])):
                for right in range(left, len(rows[0])):
                    full = True
                    for row in rows[top : low + 1]:
                        if "." in row[left : right + 1]:
                            full = False
                    if full:
                        count += WEIGHT * (low - top + 1)
    return count
