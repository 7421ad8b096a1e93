# attack: socket_buffers
# threat: memory
# expect: CONTAINED: what lies in socket buffers is bounded by the number of descriptors, or charged
import os, socket
total, kept = 0, []
try:
    while total < 1 << 30:
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        kept.append(pair)
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 << 20)
        pair[0].setblocking(False)
        try:
            while True:
                total += pair[0].send(b"x" * 60000)
        except BlockingIOError:
            pass
    print("ESCAPED", total >> 20, "MiB in sockets")
except OSError as e:
    print("CONTAINED errno", e.errno, "at", total >> 20, "MiB")
