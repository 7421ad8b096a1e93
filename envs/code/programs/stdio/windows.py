"""Right program of the family `windows`."""

# mypy: disable-error-code=operator

W = 5
WHAT = "smallest"

# fmt: off
# The program:
n = int(input())
a = list(map(int, input().split()))
f = {"largest": max, "smallest": min, "sum": sum, "spread": lambda w: max(w) - min(w)}[WHAT]
print(*[f(a[i:i + W]) for i in range(n - W + 1)] if n >= W else ["none"])
