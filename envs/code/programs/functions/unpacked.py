"""Right program of the family `unpacked`."""

PART = ""
MOST = 20


# The program:
def unpacked(form: list) -> str:
    def text(form):
        out = ""
        for part in form:
            if isinstance(part, str):
                out += part
            else:
                n, inner = part
                once = text(inner)
                for i in range(n):
                    out += PART
        return out

    return text(form)[:MOST]
