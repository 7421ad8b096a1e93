"""Right program of the family `run-lengths`."""

ORDER = "number"
MOST = 4

# The program:
s = input()
out = []
i = 0
while i < len(s):
    j = i
    while j < len(s) and s[j] == s[i] and j - i < MOST:
        j += 1
    out.append(s[i] + str(j - i) if ORDER == "letter" else str(j - i) + s[i])
    i = j
print("".join(out))
