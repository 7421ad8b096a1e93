"""Right version of the part `shared`."""

from verigym.envs.code.programs.helpers.calendar_weeks import week_of

POOL = 90


# The program:
def shared(records):
    """The records with their shares of each week's pool as amounts."""
    weeks = {}
    for at, r in enumerate(records):
        weeks.setdefault(week_of(r["day"]), []).append(at)
    amounts = [r["amount"] for r in records]
    for places in weeks.values():
        total = sum([amounts[at] for at in places])
        if total == 0:
            continue
        cut = sorted([(-(amounts[at] * POOL % total), at) for at in places])
        for at in places:
            amounts[at] = amounts[at] * POOL // total
        left = POOL - sum([amounts[at] for at in places])
        for _, at in cut[:left]:
            amounts[at] += 1
    return [
        {"name": r["name"], "group": r["group"], "amount": amount, "day": r["day"]}
        for r, amount in zip(records, amounts)
    ]
