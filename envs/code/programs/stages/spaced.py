"""Right version of the part `spaced`."""

PAUSE = 3


# The program:
def spaced(records):
    """The records that keep their distance from the last one kept of their name."""
    out = []
    last = {}
    for r in records:
        name = r["name"]
        if name in last and abs(r["day"] - last[name]) < PAUSE:
            continue
        last[name] = r["day"]
        out.append(r)
    return out
