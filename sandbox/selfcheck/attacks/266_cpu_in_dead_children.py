# attack: cpu_in_dead_children
# threat: cpu
# expect: CONTAINED: processor time of children that have ended, waited for or not, counts on
# status: time_limit
import os, time
while True:
    for _ in range(3):
        try:
            if os.fork() == 0:
                end = time.process_time() + 0.2
                while time.process_time() < end:
                    pass
                os._exit(0)
        except OSError:
            break
    try:
        os.wait()
    except OSError:
        pass
