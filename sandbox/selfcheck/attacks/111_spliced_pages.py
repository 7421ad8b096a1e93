# attack: spliced_pages
# threat: memory
# expect: CONTAINED: pages that live on in pipes after their mapping is gone stay bounded
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
class Vec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
total, kept = 0, []
try:
    while total < 1 << 30:
        r, w = os.pipe2(os.O_NONBLOCK)
        kept += [r, w]
        try:
            import fcntl
            fcntl.fcntl(w, 1031, 1 << 20)
        except OSError:
            pass
        block = mmap.mmap(-1, 1 << 20)
        block[::4096] = b"x" * 256
        at = ctypes.addressof(ctypes.c_char.from_buffer(block))
        done = libc.vmsplice(w, ctypes.byref(Vec(at, 1 << 20)), ctypes.c_ulong(1), 0)
        if done < 0:
            raise OSError(ctypes.get_errno(), "vmsplice")
        total += done
    print("ESCAPED", total >> 20, "MiB in pipes")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", total >> 20, "MiB")
