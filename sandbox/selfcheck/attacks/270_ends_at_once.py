# attack: ends_at_once
# threat: status
# expect: CONTAINED: killing all that it may signal, itself included, ends it as its own death
# status: signal, ok, nonzero_exit
import os, signal
if os.fork() == 0:
    os.kill(-1, signal.SIGKILL)
os.kill(-1, signal.SIGKILL)
os.kill(os.getpid(), signal.SIGKILL)
