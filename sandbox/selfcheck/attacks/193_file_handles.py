# attack: file_handles
# threat: privilege
# expect: CONTAINED: files cannot be opened by handle, which passes by every folder
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
ok = []
for path in (b"/", b"/usr", b"/proc/self/exe", b"/tmp"):
    handle = ctypes.create_string_buffer(136)
    ctypes.memmove(handle, (ctypes.c_uint32 * 1)(128), 4)
    mount = ctypes.c_int()
    libc.syscall(303, -100, path, handle, ctypes.byref(mount), 0)
    fd = os.open(path, os.O_RDONLY)
    for guess in (2, 5, 128, 256):
        ctypes.memmove(ctypes.addressof(handle) + 8, (ctypes.c_uint32 * 1)(guess), 4)
        if libc.syscall(304, fd, handle, 0) >= 0:
            ok.append((path, guess))
print("ESCAPED" if ok else "CONTAINED", ok)
