# attack: renice_everyone
# threat: process
# expect: CONTAINED: changing the priority of "all my processes" reaches no other job and no supervisor
# oracle: the supervisor's and the next job's priorities are as before
import os
for who in (0, os.getuid(), 65534):
    try:
        os.setpriority(os.PRIO_USER, who, 19)
        print("set", who, flush=True)
    except OSError as e:
        print("refused", who, e.errno, flush=True)
