"""Right program of the family `word_chain`."""

K = 1
END = -1
LONGER = 2


# fmt: off
# The program:
def word_chain(words: list[str]) -> int:
    words = [w for w in words if len(w) >= K]
    best = [0] * len(words)
    for i, w in enumerate(words):
        best[i] = 1 + max([best[j] for j in range(i) if words[j][END] == w[0] and len(w) - len(words[j]) <= LONGER], default=0)
    return max(best, default=0)
