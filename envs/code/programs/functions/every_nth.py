"""Right program of the family `every_nth`."""

N = 3
SIGN = "*"


# The program:
def every_nth(text: str) -> str:
    count = 0
    out = ""
    for c in text:
        if c != " ":
            count += 1
            if count % N == 0:
                c = SIGN
        out += c
    return out
