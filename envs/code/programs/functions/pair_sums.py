"""Right program of the family `pair_sums`."""

A = 2
B = 3
OUT: list[int] = []


# The program:
def pair_sums(first: list[int], second: list[int]) -> list[int]:
    out = [A * x + B * y for x, y in zip(first, second)]
    n = len(out)
    return OUT
