"""A generator that delegates to another, which appends to the list that it reads."""

CUT, MOST, ADD, KEEP, BOUND = 12, 9, 7, 5, 79


# The program:
def walk(items, x):
    count = 0
    for item in items:
        count += 1
        if item > x % CUT:
            yield item - count
        elif len(items) < MOST:
            items.append(item + x % ADD + 1)
    return count


def sift(items, x):
    def numbered():
        count = yield from walk(items, x)
        yield count * 3

    found = [(n * n + x) % BOUND for n in numbered()]
    items[:] = (items + found)[-KEEP:]
    return sum(found) % BOUND
