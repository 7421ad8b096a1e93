"""Right version of the part `running`."""


# The program:
def running(records):
    """The records with totals so far in place of amounts."""
    out = []
    totals = {}
    for r in records:
        group = r["group"]
        totals[group] = totals.get(group, 0) + r["amount"]
        out.append({"name": r["name"], "group": group, "amount": totals[group], "day": r["day"]})
    return out
