# attack: traces_its_child
# threat: process
# expect: CONTAINED: ptrace is refused between the job's own processes too: tracing was a way round filters
import ctypes, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
L = ctypes.c_ulong
child = os.fork()
if child == 0:
    time.sleep(30)
    os._exit(0)
ok = []
for name, request in (("attach", 16), ("seize", 0x4206)):
    if libc.syscall(L(101), L(request), L(child), L(0), L(0)) == 0:
        ok.append(name)
os.kill(child, signal.SIGKILL)
print("ESCAPED" if ok else "CONTAINED", ok)
