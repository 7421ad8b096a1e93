"""Slow version of `all_distances`."""

FACTOR = 3


# The program:
def all_distances(parents, lengths):
    n = len(parents) + 1
    near = [[] for _ in range(n)]
    for i in range(1, n):
        near[i].append((parents[i - 1], lengths[i - 1] + FACTOR))
        near[parents[i - 1]].append((i, lengths[i - 1] + FACTOR))
    total = 0
    for start in range(n):
        stack = [(start, start, 0)]
        while stack:
            node, before, far = stack.pop()
            total += far
            for other, length in near[node]:
                if other != before:
                    stack.append((other, node, far + length))
    return total
