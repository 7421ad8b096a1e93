"""Right version of the part `weekly`."""

from verigym.envs.code.programs.helpers.calendar_weeks import week_of


# The program:
def weekly(records):
    """The best record of each name and week."""
    best = {}
    for at, r in enumerate(records):
        key = (r["name"], week_of(r["day"]))
        if key not in best or r["amount"] > records[best[key]]["amount"]:
            best[key] = at
    kept = set(best.values())
    return [r for at, r in enumerate(records) if at in kept]
