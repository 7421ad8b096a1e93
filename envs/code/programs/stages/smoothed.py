"""Right version of the part `smoothed`."""

SPAN = 3


# The program:
def smoothed(records):
    """The records with the medians of the last amounts of their group."""
    out = []
    seen = {}
    for r in records:
        amounts = seen.setdefault(r["group"], [])
        amounts.append(r["amount"])
        ordered = sorted(amounts[-SPAN:])
        amount = ordered[(len(ordered) - 1) // 2]
        out.append({"name": r["name"], "group": r["group"], "amount": amount, "day": r["day"]})
    return out
