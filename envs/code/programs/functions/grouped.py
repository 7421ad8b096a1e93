"""Right program of the family `grouped`."""

M = 3
FUNCTION = len


# The program:
def grouped(nums: list[int]) -> dict[str, int]:
    groups = {}
    for n in nums:
        groups.setdefault(str(n % M), set()).add(n)
    return {key: FUNCTION(group) for key, group in groups.items()}
