"""Fast version of `all_distances`."""

FACTOR = 3


# The program:
def all_distances(parents, lengths):
    n = len(parents) + 1
    sizes = [1] * n
    total = 0
    node = n
    while node > 1:
        node -= 1
        size = sizes[node]
        sizes[parents[node - 1]] += size
        total += size * (n - size) * (lengths[node - 1] + FACTOR)
    return 2 * total
