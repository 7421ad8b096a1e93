# attack: deep_recursion
# threat: memory
# expect: CONTAINED: the stack overflows inside the job
# status: signal, nonzero_exit, memory_limit, time_limit
import sys
sys.setrecursionlimit(10**9)
class Nested:
    def __repr__(self):
        return "%r" % [self]
print(len(repr(Nested())))
