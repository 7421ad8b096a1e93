"""Right version of the part `bonuses`."""

BONUS = 101
EVERY = 2


# The program:
def bonuses(records):
    """The records with the bonus added."""
    out = []
    seen = {}
    for r in records:
        seen[r["name"]] = seen.get(r["name"], 0) + 1
        amount = r["amount"]
        if seen[r["name"]] % EVERY == 0:
            amount += BONUS
        out.append({"name": r["name"], "group": r["group"], "amount": amount, "day": r["day"]})
    return out
