"""Right version of the part `settled`."""


# The program:
def settled(records):
    """The bills and payments that are left when payments have paid what they can."""
    amounts = [r["amount"] for r in records]
    for at, r in enumerate(records):
        if r["group"] != "y":
            continue
        bills = [
            (records[i]["day"], i)
            for i in range(at)
            if records[i]["group"] == "x" and records[i]["name"] == r["name"]
        ]
        for _, i in sorted(bills):
            paid = min(amounts[i], amounts[at])
            amounts[i] -= paid
            amounts[at] -= paid
    return [
        {"name": r["name"], "group": r["group"], "amount": amount, "day": r["day"]}
        for r, amount in zip(records, amounts)
        if amount
    ]
