"""Right version of `longest_run`."""

CAP = 4
EACH = 3
NEAR = 450
FAR = 462


# The program:
def longest_run(xs):
    best = 0
    run = 1
    for i in range(1, len(xs) + 1):
        if i < len(xs) and NEAR <= EACH * (xs[i] - xs[i - 1]) <= FAR:
            run += 1
        else:
            if run <= CAP and run > best:
                best = run
            run = 1
    return best
