"""Right program of the family `bases`."""

FROM = 11
TO = 5

# The program:
out = []
for word in input().split():
    x = int(word, FROM)
    digits = ""
    while x:
        digits = "0123456789abcdef"[x % TO] + digits
        x //= TO
    out.append(digits or "0")
print(*out)
