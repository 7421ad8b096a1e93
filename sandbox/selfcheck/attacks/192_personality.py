# attack: personality
# threat: lifetime
# expect: CONTAINED: a changed personality ends with the job
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.personality(ctypes.c_ulong(0x0040000 | 0x0400000 | 0x0200000))
print("set to", libc.personality(ctypes.c_ulong(0xFFFFFFFF)), flush=True)
# then: its successor looks at its own
import ctypes
now = ctypes.CDLL(None).personality(ctypes.c_ulong(0xFFFFFFFF))
print("ESCAPED" if now > 0 else "CONTAINED", now)
