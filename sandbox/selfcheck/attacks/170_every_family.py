# attack: every_family
# threat: net
# expect: CONTAINED: no socket family but Unix and Internet
import socket
ok = []
for family in range(3, 64):
    if family == socket.AF_INET6:
        continue
    for kind in (1, 2, 3, 4, 5, 10):
        try:
            socket.socket(family, kind).close()
            ok.append((family, kind))
            break
        except OSError:
            pass
print("ESCAPED" if ok else "CONTAINED", ok)
