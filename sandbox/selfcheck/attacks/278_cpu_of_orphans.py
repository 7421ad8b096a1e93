# attack: cpu_of_orphans
# threat: cpu
# expect: CONTAINED: processor time of orphans that have ended counts on
# status: time_limit
# cpu: 1.5
# wall: 8
import os, time
while True:
    for _ in range(2):
        try:
            if os.fork() == 0:
                if os.fork() == 0:
                    end = time.process_time() + 0.1
                    while time.process_time() < end:
                        pass
                os._exit(0)
            os.wait()
        except OSError:
            time.sleep(0.01)
    time.sleep(0.05)
