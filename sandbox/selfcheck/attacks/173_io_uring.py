# attack: io_uring
# threat: syscall
# expect: CONTAINED: io_uring is refused: what it runs passes no system call filter
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
parameters = ctypes.create_string_buffer(256)
fd = libc.syscall(425, 8, parameters)
print("ESCAPED" if fd >= 0 else "CONTAINED", fd, ctypes.get_errno())
