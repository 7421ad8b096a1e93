"""Four classes whose methods call each other by the order of their bases."""

CUT, RISE, BITS, SCALE, WRAP, SIZE, BOUND = 7, 3, 5, 4, 23, 5, 90


# The program:
class Base:
    def __init__(self):
        self.seen = [1]

    def rate(self, x):
        self.seen.append(x % CUT)
        return x


class Left(Base):
    def rate(self, x):
        return super().rate(x + len(self.seen) * RISE) ^ BITS


class Right(Base):
    def rate(self, x):
        y = super().rate(x * SCALE % WRAP)
        return y + self.seen[0] if len(self.seen) % 2 else y - self.seen[-2]


class Both(Left, Right):
    def rate(self, x):
        if len(self.seen) > SIZE:
            self.seen = self.seen[1::2]
        return super().rate(x) % BOUND
