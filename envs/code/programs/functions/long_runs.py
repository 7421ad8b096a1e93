"""Right program of the family `long_runs`."""

LEAST = 2
MOST = 4
FOUND = 0


# The program:
def long_runs(text: str) -> list[list]:
    out, i = [], 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        if LEAST <= j - i <= MOST:
            out.append([text[i], FOUND])
        i = j
    return out
