"""Right version of the part `totals`."""


# The program:
def totals(records):
    """The sum of each group."""
    sums = {}
    for r in records:
        sums[r["group"]] = sums.get(r["group"], 0) + r["amount"]
    return [[group, sums[group]] for group in sorted(sums)]
