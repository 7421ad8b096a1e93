"""Right program of the family `orbit`."""

A = 9
C = 6
M = 23

# The program:
for word in input().split():
    x = int(word)
    seen = {}
    while x not in seen:
        seen[x] = len(seen)
        x = (A * x + C) % M
    print(seen[x], len(seen) - seen[x])
