"""A small machine of registers that runs a program of letters."""

ORDERS, FUEL, BOUND = "adjsxk", 6, 53


# The program:
def execute(regs, x):
    at = x % len(ORDERS)
    for fuel in range(FUEL):
        a, b, c = regs
        order = ORDERS[at]
        if order == "a":
            regs[0] = (a + b) % BOUND
        elif order == "d":
            regs[1] = (b * 2 + fuel) % BOUND
        elif order == "x":
            regs[2] = a ^ c
        elif order == "s":
            regs[:] = b, c, a
        elif order == "j" and a > b:
            at += c % 3
        elif order == "k":
            regs[2] = (c + x) % BOUND
        at = (at + 1) % len(ORDERS)
    return regs[0] + regs[2]
