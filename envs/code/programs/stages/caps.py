"""Right version of the part `caps`."""

CAP = 45


# The program:
def caps(records):
    """The records with no amount above CAP."""
    out = []
    for r in records:
        amount = r["amount"]
        if amount > CAP:
            amount = CAP
        out.append({"name": r["name"], "group": r["group"], "amount": amount, "day": r["day"]})
    return out
