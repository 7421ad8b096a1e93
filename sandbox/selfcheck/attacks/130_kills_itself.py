# attack: kills_itself
# threat: status
# expect: CONTAINED: its own SIGKILL is not told as a fault of the machine or as a limit
# status: signal
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
