"""Right program of the family `grid_paths`."""

TURNS = 2
MODULUS = 97


# fmt: off
# The program:
def grid_paths(grid: list[str]) -> int:
    from functools import cache
    h, w = len(grid), len(grid[0])

    @cache
    def go(y, x, right, left):
        if left < 0 or y >= h or x >= w or grid[y][x] == "#":
            return 0
        if (y, x) == (h - 1, w - 1):
            return 1
        return go(y, x + 1, True, left - (not right)) + go(y + 1, x, False, left - right)

    if (h, w) == (1, 1):
        return int(grid[0][0] == ".")
    if grid[0][0] == "#":
        return 0
    return (go(0, 1, True, TURNS) + go(1, 0, False, TURNS)) % MODULUS
