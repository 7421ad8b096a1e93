"""A tank with a property, whose spills are counted on the class."""

START, SIZE, DROP, PART = 4, 31, 5, 17


# The program:
class Tank:
    spilled = 0

    def __init__(self, size, level=START):
        self.size = size
        self.level = level

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        if value > self.size:
            Tank.spilled += value - self.size
            value = self.size - value % DROP
        self._level = abs(value)

    def __iadd__(self, n):
        self.level += n
        return self

    def __sub__(self, n):
        return Tank(self.size - n % 3, self.level - n)

    def __lt__(self, other):
        return (self.level, self.size) < (other.level, other.size)


def pour(tanks, x):
    tanks[0] += x % PART
    tanks[1] = max(tanks) - x % DROP
    tanks.sort()
    return tanks[0].level * 2 + tanks[-1].level + Tank.spilled % DROP
