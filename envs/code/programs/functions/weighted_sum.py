"""Right program of the family `weighted_sum`."""

EMPTY = 1
K = 2


# The program:
def weighted_sum(tree: list) -> int:
    if not tree:
        return EMPTY
    return sum(K * weighted_sum(item) if isinstance(item, list) else item for item in tree)
