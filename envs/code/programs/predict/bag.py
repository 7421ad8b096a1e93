"""A set that grows and shrinks in place, or under another name."""

RANGE, ADD, SCALE, MOST, BOUND = 19, 4, 3, 5, 59


# The program:
def toggle(bag, x):
    other = bag
    bag ^= {x % RANGE, (x + ADD) % RANGE, x * SCALE % RANGE}
    if len(bag) > MOST:
        bag = bag - {min(bag), max(bag)}
    if len(other) > MOST + 3:
        other.intersection_update(range(x % 3, RANGE, 2))
    return sum(i * v for i, v in enumerate(sorted(bag), 2)) % BOUND + len(other)
