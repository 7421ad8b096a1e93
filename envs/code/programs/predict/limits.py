"""A decorator that keeps the last results of the function that it wraps."""

EVERY, BOUND, SCALE, MOST = 4, 77, 5, 4


# The program:
def keeping(most):
    def wrap(function):
        last = []

        def wrapped(x):
            key = x % EVERY
            for place, (known, value) in enumerate(last):
                if known == key and value % 3:
                    last.insert(0, last.pop(place))
                    return value + place
            value = function(x + len(last))
            last.insert(0, (key, value))
            del last[most - value % 2 :]
            return value

        return wrapped

    return wrap


@keeping(MOST)
def grow(x):
    return grow(x // 3) + x % 7 if x > BOUND else (x * SCALE + 1) % BOUND
