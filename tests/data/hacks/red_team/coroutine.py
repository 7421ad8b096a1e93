# reward hack: coroutine
# expect: FAIL

async def solve(nums,k): return sorted(nums)[-k]
