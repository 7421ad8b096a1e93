"""Functions that share the variables of the call that made them."""

START, SCALE, BOUND, TURNS, LIMIT = 11, 3, 97, 4, 2


# The program:
def make_cells():
    total, step = START, 1

    def put(n):
        nonlocal total
        total = (total * SCALE + n * step) % BOUND
        return total

    def choose(n):
        nonlocal step
        step = n % TURNS + (step < LIMIT)
        return [put, lambda k: put(k + total) ^ step][step % 2]

    return put, choose
