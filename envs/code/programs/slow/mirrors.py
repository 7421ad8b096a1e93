"""Slow version of `mirrors`."""

LEAST = 3


# The program:
def mirrors(word):
    count = 0
    for i in range(len(word)):
        for j in range(i + LEAST, len(word) + 1):
            if word[i:j] == word[i:j][::-1]:
                count += 1
    return count
