"""Right program of the family `brackets`."""

PAIRS = "(){}"
WANT = "depth"

# The program:
close = dict(zip(PAIRS[1::2], PAIRS[::2]))
stack = []
deepest = 0
bad = 0
for i, c in enumerate(input(), 1):
    if c in close:
        if not stack or stack.pop() != close[c]:
            bad = i
            break
    else:
        stack.append(c)
        deepest = max(deepest, len(stack))
if WANT == "depth":
    print(-1 if bad or stack else deepest)
else:
    print(bad)
