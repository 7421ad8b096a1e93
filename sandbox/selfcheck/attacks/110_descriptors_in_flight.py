# attack: descriptors_in_flight
# threat: fds
# expect: CONTAINED: descriptors sent and not received are bounded too
import array, socket
n = 0
a, b = socket.socketpair()
a.setblocking(False)
try:
    while n < 60000:
        c, d = socket.socketpair()
        rights = array.array("i", [c.fileno(), d.fileno()] * 100)
        a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        n += 200
        c.close()
        d.close()
        if n % 20000 == 0:
            a, b = socket.socketpair()
            a.setblocking(False)
    print("ESCAPED", n, "descriptors in flight")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", n)
