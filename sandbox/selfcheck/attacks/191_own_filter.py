# attack: own_filter
# threat: syscall
# expect: CONTAINED: a filter of the job's own that allows everything loosens nothing
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
L = ctypes.c_ulong
program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000), 8)
filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(program)), 16)
done = libc.syscall(317, 1, 0, filter_)
listener = libc.syscall(317, 1, 8, filter_)
ok = [n for n in (272, 425, 321, 101) if libc.syscall(n, L(0x10000000 if n == 272 else 0), None, L(0), L(0)) >= 0]
print("ESCAPED" if ok else "CONTAINED", ok, "installed", done, "listener", listener)
