"""Right program of the family `map-each`."""

A = 7
B = 3
M = 8

# The program:
input()
print(*[(A * x + B) % M for x in map(int, input().split())])
