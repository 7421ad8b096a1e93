"""Right program of the family `sum-picked`."""

RULE = "greater"
K = 4


# fmt: off
# The program:
def picked(x):
    if RULE == "divisible":
        return x % K == 0
    if RULE == "not divisible":
        return x % K != 0
    return x > K if RULE == "greater" else x < K

input()
print(sum(x for x in map(int, input().split()) if picked(x)))
