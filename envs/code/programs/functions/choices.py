"""Right program of the family `choices`."""

SIZE = 2
FITS = True
FIRST = 5


# fmt: off
# The program:
def choices(prices: list[int], money: int) -> list[list[int]]:
    from itertools import combinations
    ways = {tuple(sorted(c)) for c in combinations(prices, SIZE) if FITS}
    return sorted(map(list, ways))[:FIRST]
