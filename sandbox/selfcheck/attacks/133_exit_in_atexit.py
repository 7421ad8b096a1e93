# attack: exit_in_atexit
# threat: status
# expect: CONTAINED: an exit from an exit handler counts like any other
# status: nonzero_exit
# exit: 9
import atexit, os
atexit.register(os._exit, 9)
print("done", flush=True)
