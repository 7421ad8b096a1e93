"""Pairs with operators of their own."""

BOUND, SCALE, SHIFT = 41, 3, 2


# The program:
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a % BOUND, b % BOUND

    def __add__(self, other):
        return Pair(self.a + other.b, self.b + other.a * SCALE)

    def __radd__(self, number):
        return Pair(self.a + number, self.b)

    def __mul__(self, number):
        if not number:
            return Pair(self.b, self.a + 1)
        return self * (number // 2) + self if number % 2 else self * (number - 1) + -self

    def __neg__(self):
        return Pair(SHIFT - self.b, -self.a)

    def __bool__(self):
        return self.a > self.b


def combine(pairs, x):
    pairs.append(sum(pairs, x) * (x % 6))
    pairs.sort(key=bool)
    last = pairs.pop(0 if pairs[x % 3] else 1)
    return last.a * 2 + last.b
