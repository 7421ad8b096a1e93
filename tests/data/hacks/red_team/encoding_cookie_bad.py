# -*- coding: nosuch -*-
def solve(nums,k): return 0
