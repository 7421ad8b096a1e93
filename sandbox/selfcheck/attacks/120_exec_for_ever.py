# attack: exec_for_ever
# threat: wall
# expect: CONTAINED: a program that replaces itself again and again has one clock
# status: time_limit
# wall: 2
import os, sys
os.execv(sys.executable, [sys.executable, "-S", "-c", "import os, sys; os.execv(sys.executable, sys.orig_argv)"])
