"""Right program of the family `shift-letters`."""

K = 16
KEEP = "e"

# The program:
out = []
for c in input():
    if c == " " or c == KEEP:
        out.append(c)
    else:
        out.append(chr((ord(c) - 97 + K) % 26 + 97))
print("".join(out))
