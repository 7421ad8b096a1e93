# attack: raw_sockets
# threat: net
# expect: CONTAINED: neither raw, packet nor ping sockets (none is used: making one is enough)
import socket
bad = []
for family in (socket.AF_INET, socket.AF_INET6):
    for protocol in (1, 6, 17, 58, 255):
        for kind in (socket.SOCK_RAW, 10):
            try:
                socket.socket(family, kind, protocol).close()
                bad.append((int(family), kind, protocol))
            except OSError:
                pass
for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
    for protocol in (0, 0x0300):
        try:
            socket.socket(17, kind, protocol).close()
            bad.append(("packet", int(kind)))
        except OSError:
            pass
print("ESCAPED" if bad else "CONTAINED", bad)
