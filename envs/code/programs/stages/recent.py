"""Right version of the part `recent`."""

SINCE = 5


# The program:
def recent(records):
    """The records of day SINCE and later."""
    return [r for r in records if r["day"] >= SINCE]
