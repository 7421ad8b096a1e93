"""Right version of the part `firsts`."""

KEEP = 2


# The program:
def firsts(records):
    """At most KEEP records of each group."""
    out = []
    counts = {}
    for r in records:
        count = counts.get(r["group"], 0)
        if count < KEEP:
            out.append(r)
        counts[r["group"]] = count + 1
    return out
