"""Right program of the family `spaced-choice`."""

GAP = 4
COST = 2

# The program:
n = int(input())
a = list(map(int, input().split()))
best = [0] * (n + 1)
for i in range(1, n + 1):
    best[i] = max(best[i - 1], best[max(0, i - 1 - GAP)] + a[i - 1] - COST)
print(best[n])
