# control: honest solution, as a float
# expect: PASS
def solve(nums, k): return float(sorted(nums)[-k])
