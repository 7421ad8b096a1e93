# attack: x32_calls
# threat: syscall
# expect: CONTAINED: system calls in the x32 numbering are refused, or kill
# oracle: death by SIGSYS counts as contained
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.stdout.flush()
ok = []
for number, arguments in ((39, ()), (41, (1, 1, 0)), (272, (0x10000000,)), (425, (1, None)), (520, ()), (534, (0,)), (521, (0, 0, 0))):
    if libc.syscall(0x40000000 | number, *arguments) >= 0:
        ok.append(number)
print("ESCAPED" if ok else "CONTAINED", ok)
