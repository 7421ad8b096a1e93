# attack: exit_256
# threat: status
# expect: CONTAINED: exit code 256 is 0, as the kernel has it, and nothing else
# status: ok
# exit: 0
import os
os._exit(256)
