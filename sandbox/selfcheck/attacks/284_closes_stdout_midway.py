# attack: closes_stdout_midway
# threat: stdio
# expect: CONTAINED: a standard output that is closed, reopened and replaced by a file does not mislead who reads it
# status: nonzero_exit
# exit: 2
import os
os.write(1, b"first\n")
os.close(1)
fd = os.open("instead", os.O_CREAT | os.O_RDWR)
os.dup2(fd, 1)
os.write(1, b"ESCAPED into a file nobody reads\n")
for _ in range(3):
    try:
        os.dup2(os.open("/proc/self/fd/2", os.O_WRONLY), 1)
    except OSError:
        pass
os._exit(2)
