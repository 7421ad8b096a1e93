# attack: huge_numbers
# threat: memory
# expect: CONTAINED: numbers and texts of gigabytes made by one expression meet the limits
for make in (lambda: 1 << (1 << 40), lambda: "%0*d" % (1 << 33, 1), lambda: "{:>{}}".format(1, 1 << 34), lambda: bytes(1 << 36), lambda: list(range(1 << 32)), lambda: "x".ljust(1 << 35), lambda: [0] * (1 << 33)):
    try:
        print("ESCAPED", len(str(type(make()))))
    except (MemoryError, OverflowError, ValueError) as e:
        print("CONTAINED", type(e).__name__)
