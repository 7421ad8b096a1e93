"""Right program of the family `coin-ways`."""

COINS = "1 3 4 5"
ORDER = "does not matter"
MODULUS = 9973

# The program:
coins = list(map(int, COINS.split()))
amounts = list(map(int, input().split()))
top = max(amounts)
ways = [1] + [0] * top
if ORDER == "matters":
    for x in range(1, top + 1):
        ways[x] = sum(ways[x - c] for c in coins if c <= x) % MODULUS
else:
    for c in coins:
        for x in range(c, top + 1):
            ways[x] = (ways[x] + ways[x - c]) % MODULUS
print(*[ways[x] for x in amounts])
