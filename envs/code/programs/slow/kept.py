"""Slow version of `kept`."""

MODULUS = 300


# The program:
def kept(xs):
    out = []
    for x in xs:
        known = False
        for y in out:
            if x % MODULUS == y:
                known = True
        if not known:
            out.append(x % MODULUS)
    return out
