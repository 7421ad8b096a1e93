"""A text that is taken apart and put together."""

MOST, SHIFT, LETTERS = 9, 3, "abcde"


# The program:
def rewrite(box, x):
    letter = LETTERS[x % len(LETTERS)]
    head, found, tail = box[0].partition(letter)
    if found:
        text = tail + head[::-1] + LETTERS[(x + len(head)) % len(LETTERS)]
    else:
        text = head[SHIFT:] + letter * (x % 3 + 1) + head[:SHIFT]
    box[0] = text[-MOST:] if x % 2 else text[:MOST]
    return sum(ord(c) * i for i, c in enumerate(box[0])) % 101 + text.count(letter)
