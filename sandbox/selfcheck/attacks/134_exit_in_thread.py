# attack: exit_in_thread
# threat: status
# expect: CONTAINED: the exit of one thread ends the job with its code
# status: nonzero_exit
# exit: 5
import os, threading, time
threading.Thread(target=os._exit, args=(5,)).start()
time.sleep(60)
