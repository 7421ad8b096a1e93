"""A list of functions made in a loop: one variable is bound late, another by a default."""

COUNT, SCALE, BOUND = 4, 5, 89


# The program:
def make_rules():
    rules, k = [], 1
    for i in range(COUNT):
        rules.append(lambda x, i=i: (x * (i + 1) + k) % BOUND)
        k = k * SCALE % 13

    def apply(x):
        nonlocal k
        rules.append(rules.pop(x % COUNT))
        for rule in rules[: x % 3 + 1]:
            x = rule(x)
            k += x & 1
        return x

    return apply
