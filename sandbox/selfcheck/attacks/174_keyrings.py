# attack: keyrings
# threat: info
# expect: CONTAINED: no key can be made, joined, searched or read
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
ok = []
for ring in (-1, -2, -3, -4, -5):
    if libc.syscall(248, b"user", b"sbx_key", b"secret", ctypes.c_size_t(6), ring) >= 0:
        ok.append(("add_key", ring))
    if libc.syscall(250, 0, ring, 1, 0, 0) >= 0:
        ok.append(("get id", ring))
if libc.syscall(250, 1, None, 0, 0, 0) >= 0:
    ok.append("join session")
if libc.syscall(249, b"user", b"sbx_key", None, 0) >= 0:
    ok.append("request_key")
try:
    if open("/proc/keys").read().strip():
        ok.append("/proc/keys")
except OSError:
    pass
print("ESCAPED" if ok else "CONTAINED", ok)
