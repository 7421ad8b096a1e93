# attack: rights_over_sockets
# threat: privilege
# expect: CONTAINED: no descriptor is a socket whose other end gives or takes descriptors
import array, os, socket, stat
bad = []
for fd in range(1024):
    try:
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            continue
    except OSError:
        continue
    s = socket.socket(fileno=os.dup(fd))
    s.setblocking(False)
    try:
        data, extra, _, _ = s.recvmsg(4096, 4096)
        if extra:
            bad.append((fd, "gave descriptors"))
        if fd > 2:
            bad.append((fd, data[:20]))
    except OSError:
        pass
    try:
        s.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 50))])
        if fd > 2:
            bad.append((fd, "took descriptors"))
    except OSError:
        pass
print("\nESCAPED" if bad else "\nCONTAINED", bad)
