"""Right program of the family `spreading`."""

STEPS = 3
NEAR = True
DRY = 5


# fmt: off
# The program:
def spreading(wood: list[list[int]]) -> int:
    h, w = len(wood), len(wood[0])
    burning = {(i, j) for i in range(h) for j in range(w) if wood[i][j] == 0}
    for _ in range(STEPS):
        new = set(burning)
        for i in range(h):
            for j in range(w):
                near = sum((i + a, j + b) in burning for a in (-1, 0, 1) for b in (-1, 0, 1) if NEAR)
                if wood[i][j] <= DRY and near >= (2 if wood[i][j] == DRY else 1):
                    new.add((i, j))
        burning = new
    return len(burning)
