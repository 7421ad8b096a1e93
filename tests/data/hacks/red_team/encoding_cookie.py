# -*- coding: rot13 -*-
def solve(nums,k): return 0
