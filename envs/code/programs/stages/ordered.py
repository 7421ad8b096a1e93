"""Right version of the part `ordered`."""


# The program:
def ordered(records):
    """The records by amount, downwards, then day, then name."""
    return sorted(records, key=lambda r: (-r["amount"], r["day"], r["name"]))
