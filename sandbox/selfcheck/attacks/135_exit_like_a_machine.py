# attack: exit_like_a_machine
# threat: status
# expect: CONTAINED: an exit code that container engines use for their own faults is the program's
# status: nonzero_exit
# exit: 125
import os, sys
sys.stderr.write("OCI runtime error: container_linux.go: cannot start\nsandbox_error: no memory\n")
sys.stderr.flush()
os._exit(125)
