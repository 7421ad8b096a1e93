"""Fast version of `kept`."""

MODULUS = 300


# The program:
def kept(xs):
    out = []
    seen = set()
    for x in xs:
        y = x % MODULUS
        if y not in seen:
            seen.add(y)
            out.append(y)
    return out
