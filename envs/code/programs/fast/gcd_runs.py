"""Fast version of `gcd_runs`."""

GOAL = 6


# The program:
def gcd_runs(xs):
    count = 0
    runs = []
    for x in xs:
        if x % GOAL:
            runs = []
        else:
            now = [[x, 1]]
            last = x
            for divisor, many in runs:
                while divisor:
                    last, divisor = divisor, last % divisor
                if last == now[-1][0]:
                    now[-1][1] += many
                else:
                    now.append([last, many])
            runs = now
            if last == GOAL:
                count += now[-1][1]
    return count
