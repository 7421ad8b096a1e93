"""Right version of the part `bracketed`."""

from verigym.envs.code.programs.helpers.calendar_weeks import week_of

LOW = 30
HIGH = 80
RATE = 60


# The program:
def bracketed(records):
    """The records with what the brackets of their name and week leave of their amounts."""
    out = []
    before = {}
    for r in records:
        key = (r["name"], week_of(r["day"]))
        first = before.get(key, 0)
        last = first + r["amount"]
        before[key] = last
        whole = min(last, LOW) - min(first, LOW)
        part = max(min(last, HIGH), LOW) - max(min(first, HIGH), LOW)
        amount = whole + part * RATE // 100
        out.append({"name": r["name"], "group": r["group"], "amount": amount, "day": r["day"]})
    return out
