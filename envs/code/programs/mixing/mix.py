"""Changes numbers in a chain before the functions of `code/tests` get them."""

ROUNDS = 2
START = 7
ODD = 31
EVEN = 41
TIMES = 13


# The program:
def mix(values, low, size):
    xs = [v - low for v in values]
    for turn in range(ROUNDS):
        carry = START + turn
        for i in range(len(xs)):
            if carry % 2:
                xs[i] = (ODD * xs[i] + carry) % size
            else:
                xs[i] = (EVEN * xs[i] - carry) % size
            carry = (TIMES * carry + xs[i]) % size
        xs = xs[::-1]
    return [x + low for x in xs]


def mix_pairs(pairs, low, size):
    xs = mix([v for pair in pairs for v in pair], low, size)
    return [xs[i : i + 2] for i in range(0, len(xs), 2)]
