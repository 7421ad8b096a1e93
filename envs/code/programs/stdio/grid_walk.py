"""Right program of the family `grid-walk`."""

MOVES = "king"
EDGE = "ends"
BREAKS = 0

# The program:
from collections import deque

h, w, r, c = map(int, input().split())
goal = (r - 1, c - 1)
grid = [input() for _ in range(h)]
moves = {
    "rook": [(0, 1), (1, 0), (0, -1), (-1, 0)],
    "king": [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j],
    "knight": [(1, 2), (2, 1), (1, -2), (2, -1), (-1, 2), (-2, 1), (-1, -2), (-2, -1)],
}[MOVES]
start = (0, 0, 0)
dist = {start: 0}
queue = deque([start])
best = -1
while queue:
    r, c, broken = queue.popleft()
    if (r, c) == goal:
        best = dist[r, c, broken]
        break
    for dr, dc in moves:
        y, x = r + dr, c + dc
        if EDGE == "wraps":
            y, x = y % h, x % w
        if 0 <= y < h and 0 <= x < w:
            state = (y, x, broken + (grid[y][x] == "#"))
            if state[2] <= BREAKS and state not in dist:
                dist[state] = dist[r, c, broken] + 1
                queue.append(state)
print(best)
