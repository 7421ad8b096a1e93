# attack: exits_by_exec
# threat: status
# expect: CONTAINED: the exit code is that of whatever it has become
# status: nonzero_exit
# exit: 11
import os
if os.fork() == 0:
    os._exit(0)
os.execv("/bin/sh", ["sh", "-c", "exit 11"])
