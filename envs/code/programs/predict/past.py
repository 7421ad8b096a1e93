"""A recursive function whose default argument remembers earlier calls."""

FIRST, SECOND, BOUND, CUT, MOST = 3, 8, 47, 4, 6


# The program:
def recall(n, depth=0, past=[FIRST, SECOND]):
    if n < CUT or depth > 3:
        past.append((n + past[0] * 2) % BOUND)
        if len(past) > MOST:
            del past[: depth % 3 + 1]
        return past[-1]
    half = recall(n // 2, depth + 1)
    return (half + recall(n % CUT, depth + 2) * past[-1]) % BOUND
