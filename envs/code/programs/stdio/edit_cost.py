"""Right program of the family `edit-cost`."""

INSERT = 4
DELETE = 2
CHANGE = 1

# The program:
a, b = input(), input()
row = [j * INSERT for j in range(len(b) + 1)]
for i in range(1, len(a) + 1):
    previous, row = row, [i * DELETE]
    for j in range(1, len(b) + 1):
        change = 0 if a[i - 1] == b[j - 1] else CHANGE
        row.append(min(previous[j - 1] + change, previous[j] + DELETE, row[j - 1] + INSERT))
print(row[-1])
