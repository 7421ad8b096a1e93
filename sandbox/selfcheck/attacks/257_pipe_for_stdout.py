# attack: pipe_for_stdout
# threat: stdio
# expect: CONTAINED: its end of the output can be read back, shrunk or made non-blocking without harm to the reader
# status: nonzero_exit
# exit: 4
import fcntl, os
for path in ("/proc/self/fd/1", "/proc/self/fd/2", "/dev/stdout"):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.write(1, b"x" * 1000)
        print(len(os.read(fd, 1 << 16)), "bytes read back", flush=True)
    except OSError:
        pass
for fd in (1, 2):
    for command, value in ((1031, 4096), (fcntl.F_SETFL, os.O_NONBLOCK), (1026, 1), (fcntl.F_NOTIFY, 0)):
        try:
            fcntl.fcntl(fd, command, value)
        except OSError:
            pass
os._exit(4)
