"""Helper `week_of`."""


# The program:
def week_of(day):
    """The week that a day lies in: days 0 to 6 are week 0."""
    return day // 7
