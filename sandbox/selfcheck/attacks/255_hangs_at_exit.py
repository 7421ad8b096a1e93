# attack: hangs_at_exit
# threat: wall
# expect: CONTAINED: a thread or an exit handler that never ends is killed at the wall limit
# status: time_limit
# wall: 2
import atexit, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
atexit.register(time.sleep, 600)
print("done", flush=True)
