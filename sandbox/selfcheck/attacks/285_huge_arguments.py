# attack: huge_arguments
# threat: memory
# expect: CONTAINED: arguments and environments of megabytes are refused or count against the job
import os, sys
try:
    os.execve(sys.executable, [sys.executable, "-S", "-c", "import sys; print('CONTAINED', len(sys.argv))", *["x" * 100000] * 10000], {})
except OSError as e:
    print("CONTAINED errno", e.errno)
