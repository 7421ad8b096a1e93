"""Right program of the family `ranked`."""

COUNT = 0
THIRD = 3


# The program:
def ranked(words: list[str]) -> list[str]:
    key = lambda w: (COUNT, len(w), w)
    return sorted(set(words), key=key)[:THIRD]
