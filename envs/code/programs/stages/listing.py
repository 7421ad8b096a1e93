"""Right version of the part `listing`."""


# The program:
def listing(records):
    """All records, and a line of totals."""
    rows = [[r["name"], r["day"], r["amount"]] for r in records]
    rows.append(["total", len(records), sum(r["amount"] for r in records)])
    return rows
