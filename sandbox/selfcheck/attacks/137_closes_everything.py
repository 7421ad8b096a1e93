# attack: closes_everything
# threat: status
# expect: CONTAINED: with all descriptors closed the exit code is still reported
# status: nonzero_exit
# exit: 3
import os
os.closerange(0, 4096)
os._exit(3)
