"""Fast version of `far_term`."""

A = 3
B = 5
MODULUS = 1009


# The program:
def far_term(n, first):
    if n < 3:
        return first[n]
    # Rows that give the next state from x, y, z, the index and 1; squared as often as n has bits.
    x, y, z = first[2], first[1], first[0]
    steps = n - 2
    i = 2
    while steps % 16:
        i += 1
        x, y, z = (A * x + B * z + i) % MODULUS, x, y
        steps -= 1
    if not steps:
        return x
    state = [x, y, z, i, 1]
    power = [[A, 0, B, 1, 1], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 1]]
    while steps:
        if steps % 2:
            a, b, c, d, e = state
            state = [(p * a + q * b + r * c + s * d + t * e) % MODULUS for p, q, r, s, t in power]
        steps //= 2
        if steps:
            (a, b, c, d, e), (f, g, h, i, j), (k, y, m, n, o), u, v = power
            w = u[4]
            power = [
                [
                    (p * a + q * f + r * k) % MODULUS,
                    (p * b + q * g + r * y) % MODULUS,
                    (p * c + q * h + r * m) % MODULUS,
                    (p * d + q * i + r * n + s) % MODULUS,
                    (p * e + q * j + r * o + s * w + t) % MODULUS,
                ]
                for p, q, r, s, t in power[:3]
            ]
            power.append([0, 0, 0, 1, 2 * w])
            power.append(v)
    return state[0]
