"""A dictionary that makes missing values and drops its oldest ones."""

SIZE, SCALE, KEYS, BOUND = 4, 3, 9, 67


# The program:
class Store(dict):
    carry = 1

    def __missing__(self, key):
        if len(self) >= SIZE:
            oldest = next(iter(self))
            self.carry += self.pop(oldest) % KEYS
        self[key] = key * SCALE + self.carry
        return self[key]

    def touch(self, x):
        value = self[x % KEYS]
        if value % 2:
            del self[x % KEYS]
        self[x % KEYS] = (value + x) % BOUND
        first, *_, last = list(self.items()) * 2
        return (value ^ first[1]) + last[0]
