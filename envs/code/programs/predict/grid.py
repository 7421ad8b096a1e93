"""Rows of a grid, of which several may be one and the same list."""

SIZE, ADD, ROW, BOUND = 4, 9, 3, 73


# The program:
def make_grid():
    row = list(range(1, SIZE + 1))
    grid = [row[:] for _ in range(SIZE)]
    grid[1] = grid[0]
    return grid


def stir(grid, x):
    row = grid[x % SIZE]
    row[x % ROW] += x % ADD + 1
    if x % 3 == 0:
        row += row[:1]
        del row[0]
    elif x % 3 == 1:
        grid[x % ROW] = row[::-1]
    else:
        grid[x % ROW] = row
        row[-1] %= ADD
    return sum(r[x % SIZE] * (r is row) + r[0] for r in grid) % BOUND
