"""Right version of `trips`."""

EACH = 3
SEATS = 5
ADULT = 1050
LOAD = 12600


# The program:
def trips(sizes):
    count = 0
    seated = 0
    load = 0
    for size in sizes:
        w = EACH * abs(size)
        if w > LOAD:
            continue
        if count == 0 or load + w > LOAD or w >= ADULT and seated == SEATS:
            count += 1
            seated = 0
            load = 0
        if w >= ADULT:
            seated += 1
        load += w
    return count
