# attack: loopback_servers
# threat: network
# expect: CONTAINED: sockets on every loopback address and port, multicast and broadcast on loopback reach nobody outside
import socket
bad = []
for fam, addr in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "127.1.2.3"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    for port in (48123, 8080, 22, 80, 5432):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            try:
                s = socket.socket(fam, kind); s.settimeout(0.2)
                s.connect((addr, port))
                if kind == socket.SOCK_STREAM: bad.append((addr, port))
                s.close()
            except OSError: pass
print("ESCAPED" if bad else "CONTAINED", bad)
