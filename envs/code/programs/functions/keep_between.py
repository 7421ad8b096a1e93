"""Right program of the family `keep_between`."""

MORE = 3
LOW = -2
HIGH = 9


# The program:
def keep_between(nums: list[int]) -> list[int]:
    return [n + MORE for n in nums if LOW <= n <= HIGH]
