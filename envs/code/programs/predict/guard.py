"""A context manager that swallows one kind of error."""

MOST, SCALE, BOUND, KEYS = 3, 4, 31, 8


# The program:
class Guard:
    def __init__(self):
        self.depth = self.caught = 0
        self.kept = {}

    def __enter__(self):
        self.depth += 1
        return self.kept

    def __exit__(self, kind, error, trace):
        self.depth -= 1
        if kind is KeyError:
            self.caught = (self.caught * SCALE + error.args[0] + self.depth) % BOUND
        return kind is KeyError

    def swap(self, x):
        with self as outer:
            outer[x % KEYS] = x % BOUND
            with self:
                x += self.kept.pop((x * 3 + 1) % KEYS)
                x += self.kept.pop(x % KEYS)
            if len(outer) > MOST:
                x += outer.popitem()[1]
                raise KeyError(x % KEYS)
            x += self.depth
        return x % BOUND + self.caught
