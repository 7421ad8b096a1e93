"""An iterator that is advanced from two places at once."""

BOUND, START, SCALE = 57, 9, 2


# The program:
class Numbers:
    def __init__(self, x):
        self.now = x

    def __iter__(self):
        return self

    def __next__(self):
        if self.now % 7 == 3:
            self.now += START
            raise StopIteration
        self.now = (self.now * SCALE + 1) % BOUND
        return self.now


def meet(kept, x):
    numbers = Numbers(x)
    for a, b in zip(numbers, numbers):
        kept.append(a ^ b)
        if len(kept) > 5 or a > next(numbers, b):
            break
    else:
        kept.reverse()
    kept[:] = kept[-4:]
    return (sum(kept) + numbers.now) % BOUND
