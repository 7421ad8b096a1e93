"""Right program of the family `trimmed`."""

LOW = 1
HIGH = 2
BOTH = 3


# fmt: off
# The program:
def trimmed(nums: list[int]) -> int:
    return sum(sorted(nums)[LOW:len(nums) - HIGH]) if len(nums) > BOTH else -1
