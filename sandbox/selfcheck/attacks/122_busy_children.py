# attack: busy_children
# threat: cpu
# expect: CONTAINED: processor time of all children together is bounded
# status: time_limit
import os
for _ in range(8):
    try:
        if os.fork() == 0:
            break
    except OSError:
        break
while True:
    pass
