"""Right program of the family `spans`."""

GAP = 5
WANT = "list"

# The program:
n = int(input())
spans = sorted(tuple(map(int, input().split())) for _ in range(n))
merged = []
for a, b in spans:
    if merged and a - merged[-1][1] <= GAP:
        merged[-1][1] = max(merged[-1][1], b)
    else:
        merged.append([a, b])
if WANT == "list":
    for a, b in merged:
        print(a, b)
elif WANT == "count":
    print(len(merged))
else:
    print(max(b - a for a, b in merged))
