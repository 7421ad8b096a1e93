"""Right program of the family `best_window`."""

LAST = 2
WIDTH = 3
BETTER = False


# fmt: off
# The program:
def best_window(nums: list[int]) -> int:
    best = -1
    for i in range(len(nums) - LAST):
        s = sum(nums[i:i + WIDTH])
        if best < 0 or BETTER:
            best, top = i, s
    return best
