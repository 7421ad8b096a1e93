"""Right program of the family `count-words`."""

RULE = "end"
LETTER = "b"
LENGTH = 3

# The program:
count = 0
for word in input().split():
    if RULE == "contain":
        count += LETTER in word
    elif RULE == "start":
        count += word.startswith(LETTER)
    elif RULE == "end":
        count += word.endswith(LETTER)
    else:
        count += len(word) >= LENGTH and LETTER not in word
print(count)
