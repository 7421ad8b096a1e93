# attack: zombie_bomb
# threat: pids
# expect: CONTAINED: dead children that nobody waits for count as tasks
import os
n = 0
try:
    while n < 5000:
        if os.fork() == 0:
            os._exit(0)
        n += 1
    print("ESCAPED", n, "zombies")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", n)
