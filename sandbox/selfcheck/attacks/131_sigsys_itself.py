# attack: sigsys_itself
# threat: status
# expect: CONTAINED: a signal that it sends itself is not told as a fault of the machine
# status: signal
import os, signal
os.kill(os.getpid(), signal.SIGSYS)
