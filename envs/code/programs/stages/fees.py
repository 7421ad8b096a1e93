"""Right version of the part `fees`."""

FEE = 6
FREE = 15


# The program:
def fees(records):
    """The records with the fee taken off."""
    out = []
    for r in records:
        amount = r["amount"]
        if amount >= FREE:
            amount -= amount * FEE // 100
        out.append({"name": r["name"], "group": r["group"], "amount": amount, "day": r["day"]})
    return out
