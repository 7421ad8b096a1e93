# attack: page_cache_oracle
# threat: info
# expect: LEAK tolerated: mincore and preadv2(RWF_NOWAIT) may tell which shared pages are warm; the documentation says so
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
f = open("/usr/bin/gcc-12" if os.path.exists("/usr/bin/gcc-12") else "/usr/bin/perl", "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
n = (len(m) + 4095) // 4096
vec = (ctypes.c_ubyte * n)()
addr = ctypes.addressof(ctypes.c_char.from_buffer_copy(b"x"))
libc.mmap.restype = ctypes.c_void_p
a = libc.mmap(None, ctypes.c_size_t(len(m)), 1, 2, f.fileno(), 0)
r = libc.mincore(ctypes.c_void_p(a), ctypes.c_size_t(len(m)), vec)
resident = sum(v & 1 for v in vec) if r == 0 else -1
try: nw = len(os.preadv(f.fileno(), [bytearray(4096)], 0, os.RWF_NOWAIT) and b"") if False else os.preadv(f.fileno(), [bytearray(4096)], 0, os.RWF_NOWAIT)
except OSError as e: nw = str(e)
print("LEAK" if 0 < resident < n else "CONTAINED", resident, "of", n, nw)
