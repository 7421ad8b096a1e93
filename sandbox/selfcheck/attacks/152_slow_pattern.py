# attack: slow_pattern
# threat: cpu
# expect: CONTAINED: one call in C that never returns is killed from outside
# status: time_limit
# wall: 2
import re
re.match(r"(a+)+$", "a" * 64 + "b")
